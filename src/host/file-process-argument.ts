/** The argument that makes the program do file jobs. No flag of the kubelet can look like it. Apart, so that `main.ts` need not load the jobs. */
export const FILE_PROCESS_ARGUMENT = 'do-file-jobs';
