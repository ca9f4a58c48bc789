// Package stories runs whole stories on the real program, on SQLite and on
// PostgreSQL. Each file of testdata is a story. A story checks only what a
// person sees: standard output, standard error and exit codes.
//
// In addition to the commands of testscript there are:
//
//	serve [flag...]         start the server on a free port; sets FERMATA_URL and, on a first start, ADMIN and FERMATA_TOKEN
//	stopserver, kill9, restart  end the server with SIGTERM or SIGKILL; start it again at the same address
//	worker [flag...]        start a worker in the background; its log is worker.log
//	stopworker, killworker  end all workers with SIGTERM or SIGKILL
//	fermata ARG...          run the program; it must succeed
//	exitcode N CMD...       run a command; it must end with this exit code
//	start NAME CMD...       run a command in the background
//	interrupt NAME          send it SIGINT
//	says NAME PATTERN       wait until its standard error or output matches
//	ends NAME N             wait for its end; it must have this exit code
//	capture VAR CMD...      run a command; its output goes into a variable
//	until CMD...            run a command until it succeeds; until exists FILE looks for a file
//	waitfor STATE ID        wait until a task or a question has the state
//	waitfor TYPE ID         wait for an event of the type, such as question.escalated
//	[!] api METHOD PATH [JSON]  send a request as the first admin
//	json PATH [VALUE]       the JSON that was printed last has the path, with the value
//	jsonvar VAR PATH        the value at the path goes into a variable
//	jsonlines N             the last output is N or more lines, each of them JSON
//	mode FILE OCTAL         the permissions of a file
//	screen NAME WxH CMD...  run a command on a terminal of that size
//	keys NAME KEY...        press keys there, such as j, Enter, Space or a word
//	size NAME WxH           change the size of the terminal
//	[!] shows NAME PATTERN  wait until the content of the terminal matches; print it
package stories
