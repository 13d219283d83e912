/** Versions, cipher suites and curves in the names of OpenSSL. */
export interface TlsRequests {
  /** `VersionTLS12`; empty: the default. */
  readonly minVersion: string;
  /** In the names of Go and IANA; empty: the default. */
  readonly cipherSuites: readonly string[];
  /** Numbers of the TLS registry; empty: the default. */
  readonly curves: readonly number[];
}

export type TlsVersion = 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';

export interface TlsOptions {
  readonly minVersion: TlsVersion;
  readonly ciphers: string;
  readonly ecdhCurve: string;
  /** Requested, but not supported by OpenSSL. */
  readonly unknown: readonly string[];
}

const VERSIONS: Readonly<Record<string, TlsVersion>> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

/** Always offered: TLS 1.3 has no others, and they are not configurable in the reference either. */
const SUITES_13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

const SUITES_12: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
};

/** Forward secrecy and authenticated encryption only. */
const DEFAULT_SUITES = Object.keys(SUITES_12).slice(0, 8);

const CURVES: Readonly<Record<number, string>> = {
  23: 'P-256',
  24: 'P-384',
  25: 'P-521',
  29: 'X25519',
  4587: 'SecP256r1MLKEM768',
  4588: 'X25519MLKEM768',
  4589: 'SecP384r1MLKEM1024',
};

export function computeTlsOptions({ minVersion, cipherSuites, curves }: TlsRequests): TlsOptions {
  const version = VERSIONS[minVersion] ?? 'TLSv1.2';
  const requested = cipherSuites.length === 0 ? DEFAULT_SUITES : cipherSuites;
  const suites = requested.map((suite) => SUITES_12[suite]).filter((suite) => suite !== undefined);
  const missing = requested.filter((suite) => SUITES_12[suite] === undefined && !SUITES_13.includes(suite));
  const groups = curves.map((curve) => CURVES[curve]).filter((curve) => curve !== undefined);
  return {
    minVersion: version,
    // OpenSSL's security levels from 1 do not support TLS before 1.2.
    ciphers: [...SUITES_13, ...suites, ...(version < 'TLSv1.2' ? ['@SECLEVEL=0'] : [])].join(':'),
    ecdhCurve: groups.length === 0 ? 'auto' : groups.join(':'),
    unknown: [...missing, ...curves.filter((curve) => CURVES[curve] === undefined).map((curve) => `curve ${curve}`)],
  };
}
