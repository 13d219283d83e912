/**
 * Suites that need a control plane fail where its programs can't be had. Only who sets SKIP_CLUSTER=1 gets a run without them, and
 * is told so for every suite that did not run.
 */
export function whyClusterIsSkipped(
  env: NodeJS.ProcessEnv,
  say: (line: string) => void = console.error,
): string | false {
  if (env['SKIP_CLUSTER'] !== '1') return false;
  const why = 'SKIP_CLUSTER=1: nothing that needs a control plane was tested';
  say(`WARNING: ${why}`);
  return why;
}
