/* SPDX-License-Identifier: Apache-2.0 */
#include "report/comm/nccl_notes.h"

#include <inttypes.h>

#include "report/comm/nccl_names.h"
#include "report/comm/sanity.h"

static void add_op(const struct nccl_op *op, struct buf *text)
{
	buf_printf(text, "%s of %" PRIu64 " bytes on rank %" PRId32, nccl_names_op(op->kind),
		op->bytes, op->rank);
}

/* Errors in the program are prominent and set the exit status. */
static void add_errors(const struct nccl_match *match, struct buf *text)
{
	struct buf errors = {0};

	if (match->nr_differing) {
		const struct nccl_op *one = match->differing[0], *other = match->differing[1];

		buf_printf(&errors,
			"ranks do not call the same in %" PRIu64
			" collectives; the first is number %" PRIu32 " of %016" PRIx64 ", ",
			match->nr_differing, one->sequence, one->key);
		add_op(one, &errors);
		buf_text(&errors, " and ");
		add_op(other, &errors);
	}
	if (match->nr_p2p_differing) {
		const struct nccl_side *send = match->p2p_differing[0];

		buf_printf(&errors,
			"%s%" PRIu64 " sends have receives of other sizes; the first is number "
			"%" PRIu32 " of %016" PRIx64 " from rank %" PRId32 " to rank %" PRId32
			", Send of %" PRIu64 " bytes and Recv of %" PRIu64,
			errors.nr_bytes ? "; " : "", match->nr_p2p_differing, send->sequence,
			send->key, send->from, send->to, send->bytes,
			match->p2p_differing[1]->bytes);
	}
	if (errors.nr_bytes) {
		buf_printf(
			text, "; ERROR IN THE PROGRAM: %.*s", (int)errors.nr_bytes, errors.bytes);
		sanity_add("error in the program: %.*s", (int)errors.nr_bytes, errors.bytes);
	}
	buf_fini(&errors);
}

static void add_match(const struct nccl_match *match, struct buf *text)
{
	uint64_t nr_p2p_unknown = match->nr_p2p - match->nr_p2p_matched;

	add_errors(match, text);
	if (match->nr_fitted) {
		buf_printf(text,
			"; %zu clocks are aligned with another by the ends of collectives, or of "
			"sends and receives, of "
			"which 95 %% "
			"agree within %.1f us",
			match->nr_fitted, (double)match->error_ns / 1e3);
	}
	if (match->nr_alone) {
		buf_printf(text,
			"; %" PRIu64 " calls have no number or no common communicator, by which "
			"those of other ranks would be found",
			match->nr_alone);
	}
	if (match->nr_missing || match->nr_untimed || match->nr_clocks) {
		buf_printf(text, "; of %" PRIu64 " collectives", match->nr_collectives);
	}
	if (match->nr_missing) {
		buf_printf(text, ", %" PRIu64 " are not here of all ranks", match->nr_missing);
	}
	if (match->nr_untimed) {
		buf_printf(text, ", of %" PRIu64 " not all kernels are known", match->nr_untimed);
	}
	if (match->nr_clocks) {
		buf_printf(text, ", %" PRIu64 " are of clocks that nothing compares",
			match->nr_clocks);
	}
	if (nr_p2p_unknown) {
		buf_printf(text,
			"; of %" PRIu64 " sends and receives, %" PRIu64
			" lack another side with the times of its kernel on a common clock",
			match->nr_p2p, nr_p2p_unknown);
	}
	if (match->nr_alone || match->nr_missing || match->nr_untimed || match->nr_clocks ||
		nr_p2p_unknown) {
		buf_text(text, ": their waiting is not known, and where no other is in a row, its "
			       "bandwidths include it");
	}
}

/* How to read figures of host collectives. */
static void add_host(const struct nccl_ops *ops, struct buf *text)
{
	for (size_t i = 0; i < ops->nr_ops; i++) {
		if (ops->ops[i].library) {
			buf_text(text,
				"; gloo's, MPI's and UCC's have no kernels: times are those of "
				"calls, from when they are begun until they are done; sizes are "
				"of the tensors that ranks give to them, unknown without "
				"GPROF_TORCH=shapes; nothing tells their process groups and how "
				"many ranks these have");
			return;
		}
	}
}

void nccl_notes_add(const struct nccl_ops *ops, const struct nccl_match *match, struct buf *text)
{
	add_host(ops, text);
	add_match(match, text);
}
