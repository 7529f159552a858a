/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays an interpreter of a given version: `fake_python VERSION`. Says whether an audit
 * hook was asked for, tells the hook that the program begins, and calls CUDA.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *version = "3.11.0";
static int (*audit_hook)(const char *event, void *args, void *data);

int PySys_AddAuditHook(int (*hook)(const char *, void *, void *), void *data)
{
	(void)data;
	audit_hook = hook;
	return 0;
}

const char *Py_GetVersion(void)
{
	return version;
}

/* It has not begun. */
void *PyInterpreterState_Main(void)
{
	return NULL;
}

void *PyInterpreterState_ThreadHead(void *interpreter)
{
	return interpreter;
}

char PyCode_Type[8], PyUnicode_Type[8], _PyRuntime[8];

void *PyGILState_GetThisThreadState(void)
{
	return (void *)16; /* nowhere */
}

/* Runs the trial's function, which is all that it wants. */
static struct {
	const char *name;
	void *(*function)(void *self, void *unused);
} * method;
static int dict;
char _Py_NoneStruct[16];

void *Py_CompileString(const char *code, const char *file, int start)
{
	(void)code, (void)file, (void)start;
	return &dict;
}

void *PyEval_EvalCode(void *code, void *globals, void *locals)
{
	(void)code, (void)globals, (void)locals;
	return method->function(NULL, NULL);
}

void *PyCFunction_NewEx(void *wanted, void *self, void *module)
{
	(void)self, (void)module;
	method = wanted;
	return &dict;
}

void *PyDict_New(void)
{
	return &dict;
}

int PyDict_SetItemString(void *in, const char *key, void *value)
{
	(void)in, (void)key, (void)value;
	return 0;
}

void PyErr_Fetch(void **type, void **value, void **trace)
{
	*type = *value = *trace = NULL;
}

void PyErr_Restore(void *type, void *value, void *trace)
{
	(void)type, (void)value, (void)trace;
}

void *PyUnicode_FromString(const char *utf8)
{
	(void)utf8;
	return NULL;
}

void Py_IncRef(void *object)
{
	(void)object;
}

void Py_DecRef(void *object)
{
	(void)object;
}

int main(int argc, char **argv)
{
	void *cuda = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
	int (*call)(int *) = NULL;
	int count;

	if (argc > 1) {
		version = argv[1];
	}
	puts(audit_hook ? "an audit hook" : "no audit hook");
	if (audit_hook) {
		audit_hook("import", NULL, NULL);
		audit_hook("cpython.run_file", NULL, NULL);
	}
	if (cuda) {
		*(void **)&call = dlsym(RTLD_DEFAULT, "cudaGetDeviceCount");
	}
	return call ? call(&count) : 1;
}
