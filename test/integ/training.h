/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PyTorch reports to its observer while a program trains: the parts of a step, with their
 * operators, to the libtorch_cpu.so that is found (test/torch/fake_torch.c). One thread at a time.
 */
#ifndef TEST_INTEG_TRAINING_H
#define TEST_INTEG_TRAINING_H

enum training_part {
	TRAINING_LOADER,
	TRAINING_FORWARD,
	TRAINING_BACKWARD, /* on a thread of its own, as where there are GPUs */
	TRAINING_OPTIMIZER,
	NR_TRAINING_PARTS,
};

/* Ends the program where there is none of that name, or no such library. */
enum training_part training_open(const char *part);

/* A process of its own that makes batches: `body` is what each takes. */
void training_start_worker(void (*body)(void *context), void *context);

/* A part of a step with what happens in it. The loader waits for a batch of its worker instead. */
void training_run(enum training_part part, void (*body)(void *context), void *context);

/* Waits for its end. */
void training_stop_worker(void);

#endif
