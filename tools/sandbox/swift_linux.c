//go:build linux && cgo

#include <features.h>

#ifdef __GLIBC__ // it hands the arguments to constructors

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <stdlib.h>
#include <unistd.h>

enum { RULESET = 3, FILTER = 4, MOST = 4096, RESTRICT_SELF = 446, NOT_STARTED = 126 };

static void fail(const char *why) {
	ssize_t ignored = write(2, "sandbox: ", 9);
	ignored = write(2, why, strlen(why));
	ignored = write(2, "\n", 1);
	(void)ignored;
	_exit(NOT_STARTED);
}

// confine runs before anything of Go does, which takes many times as long to get
// ready. In a program that was started to become a command (swift) it keeps to the
// ruleset and the filter that it was handed, and becomes the command: it never returns.
__attribute__((constructor)) static void confine(int argc, char **argv, char **envp) {
	if (argc < 3 || strcmp(argv[0], "klawbot-confined") != 0)
		return;
	static struct sock_filter code[MOST];
	size_t have = 0;
	ssize_t n;
	while ((n = read(FILTER, (char *)code + have, sizeof code - have)) > 0)
		have += n;
	if (n < 0 || have == 0 || have == sizeof code)
		fail("no filter");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		fail("no_new_privs");
	if (syscall(RESTRICT_SELF, RULESET, 0) != 0)
		fail("landlock");
	for (int c = 0; c < 64; c++)
		prctl(PR_CAPBSET_DROP, c, 0, 0, 0); // only root has any
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	struct sock_fprog filter = {have / sizeof *code, code};
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
		fail("seccomp");
	close(RULESET);
	close(FILTER);
	struct rlimit data;
	data.rlim_cur = data.rlim_max = strtoul(argv[1], NULL, 10);
	if (data.rlim_cur > 0 && setrlimit(RLIMIT_DATA, &data) != 0)
		fail("memory");
	execve(argv[2], argv + 2, envp);
	fail("the program cannot be run");
}

int klawbot_swift(void) { return 1; }

#else

int klawbot_swift(void) { return 0; }

#endif
