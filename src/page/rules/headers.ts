/** What a browser may do with the page: nothing that comes from elsewhere, and nothing inside another site's frame. */

const ONE_SITE = {
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;

/** `nonce`: of the style elements that the terminal makes. */
export function pageHeaders(nonce: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ];
  return { ...ONE_SITE, 'Content-Security-Policy': policy.join('; ') };
}

/** Of everything that is no page: a browser that is made to open it shows nothing of it. */
export const DATA_HEADERS: Readonly<Record<string, string>> = {
  ...ONE_SITE,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};
