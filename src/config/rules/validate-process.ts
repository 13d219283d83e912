import { type Findings, problem } from './finding.ts';
import { inRange } from './validate-numbers.ts';
import type { ValidationInput } from './validation-input.ts';

const tracingSchemes = ['dns', 'unix', 'unix-abstract'];
const oneMillion = 1_000_000;

/** Settings of the process: tracing, the lock file, plugins. */
export function* validateProcess({ kubelet, settings }: ValidationInput): Findings {
  const { endpoint, samplingRatePerMillion } = kubelet.tracing ?? {};
  if (samplingRatePerMillion !== undefined) {
    yield* inRange('tracing.samplingRatePerMillion', samplingRatePerMillion, { min: 0, max: oneMillion });
  }
  if (endpoint !== undefined) yield* validateTracingEndpoint(endpoint);
  if (settings.lock.exitOnContention && settings.lock.file === '') {
    yield problem('--exit-on-lock-contention', true, 'needs --lock-file');
  }
  const { providerConfig, providerBinDir } = settings.credentials;
  if (providerConfig !== '' && providerBinDir === '') {
    yield problem('--image-credential-provider-config', providerConfig, 'needs --image-credential-provider-bin-dir');
  }
  if (providerConfig === '' && providerBinDir !== '') {
    yield problem('--image-credential-provider-bin-dir', providerBinDir, 'needs --image-credential-provider-config');
  }
}

/** A gRPC target: `host:port`, or with one of the schemes that the exporter supports. */
function* validateTracingEndpoint(endpoint: string): Findings {
  const path = 'tracing.endpoint';
  const full = endpoint.includes('//') ? endpoint : `dns://${endpoint}`;
  const [, scheme = '', host = ''] = /^([^:]*):\/\/([^/]*)/.exec(full) ?? [];
  if (!tracingSchemes.includes(scheme.toLowerCase())) {
    yield problem(path, endpoint, `its scheme must be ${tracingSchemes.join(', ')} or left out`);
  } else if (/[\s<>"%]/.test(host) || /:[^\]:]*[^\d\]:][^\]:]*$/.test(host)) {
    yield problem(path, endpoint, 'must be a host and a port number such as localhost:4317');
  }
}
