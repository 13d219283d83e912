/** The Kubernetes version of this kubelet: nodes report it, and tools compare it with the API server's. */
export const KUBERNETES_VERSION = 'v1.36.4';

/** The version of this program, as in package.json. */
export const PROGRAM_VERSION = '0.1.0';

export type BuildFacts = { readonly nodeVersion: string; readonly platform: string };

/**
 * One line, exactly in the reference's format: kubeadm and others run `kubelet --version` and parse what follows
 * `Kubernetes `. So nothing else may be on it; the program's own version is in the raw form and in the help.
 */
export function renderVersion(reported: string): string {
  return `Kubernetes ${reported}\n`;
}

/** The reference prints a Go struct here; this one has the same fields, with the real runtime in `Compiler`. */
export function renderRawVersion(reported: string, build: BuildFacts): string {
  const [, major = '', minor = ''] = /^v(\d+)\.(\d+)/.exec(reported) ?? [];
  const fields = {
    Major: major,
    Minor: minor,
    EmulationMajor: '',
    EmulationMinor: '',
    MinCompatibilityMajor: '',
    MinCompatibilityMinor: '',
    GitVersion: reported,
    GitCommit: '',
    GitTreeState: '',
    BuildDate: '1970-01-01T00:00:00Z',
    GoVersion: `node${build.nodeVersion}`,
    Compiler: `kubelet-ts ${PROGRAM_VERSION}`,
    Platform: build.platform,
  };
  const parts = Object.entries(fields).map(([name, text]) => `${name}:${JSON.stringify(text)}`);
  return `version.Info{${parts.join(', ')}}\n`;
}
