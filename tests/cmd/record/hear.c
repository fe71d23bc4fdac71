/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A service manager's ear: binds a socket, prints each message that comes as one line (its own lines joined
 *by `|`), until it is killed.
 *
 *	hear PATH
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int main(int argc, char **argv)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int descriptor = socket(AF_UNIX, SOCK_DGRAM, 0);
	char message[4096];
	ssize_t length;

	if (argc != 2 || descriptor < 0 || strlen(argv[1]) >= sizeof(address.sun_path))
		return 2;
	strcpy(address.sun_path, argv[1]);
	if (bind(descriptor, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		perror(argv[1]);
		return 1;
	}
	while ((length = recv(descriptor, message, sizeof(message) - 1, 0)) >= 0) {
		message[length] = '\0';
		for (char *at = message; (at = strchr(at, '\n')) != NULL;)
			*at = '|';
		puts(message);
		fflush(stdout);
	}
	return 1;
}
