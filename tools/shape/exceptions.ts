/** Files in which a function may keep more than five mutable variables, each with the reason. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/host/output.ts': 'to be split',
  'src/node/api-testing.ts': 'a simulated API server for tests: its variables are what the server holds',
  'src/node/runtime-state.ts': 'to be split',
  'src/resources/node-cgroups.ts': 'to be split',
  'src/server/logs/line-cutter.ts':
    'one pass over bytes, in a loop that must not allocate: the variables are its position',
};
