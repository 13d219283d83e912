/** What a client accepts: the format of a z-page, text or a versioned object; and compression. */
export type Form =
  | { readonly kind: 'text' }
  | { readonly kind: 'object'; readonly version: 'v1beta1' | 'v1alpha1'; readonly type: string }
  | { readonly kind: 'none' };

const GROUP = 'config.k8s.io';
/** JSON is YAML as well. */
const OBJECT_TYPES = ['application/json', 'application/yaml'];

interface Offer {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** `application/json;as=Flagz;v=v1beta1;g=config.k8s.io` asks for the object; everything that covers text gets the text. */
export function negotiate(accept: string | undefined, kind: string): Form {
  if (accept === undefined || accept.trim() === '') return { kind: 'text' };
  const offers = accept.split(',').map(parseOffer);
  for (const { type, parameters, quality } of offers.sort((a, b) => b.quality - a.quality)) {
    if (quality <= 0) continue;
    if (['*/*', 'text/*', 'text/plain'].includes(type) && !parameters.has('as')) return { kind: 'text' };
    const version = parameters.get('v');
    const fits = parameters.get('as') === kind && parameters.get('g') === GROUP;
    if (fits && OBJECT_TYPES.includes(type) && (version === 'v1beta1' || version === 'v1alpha1'))
      return { kind: 'object', version, type };
  }
  return { kind: 'none' };
}

export function acceptsGzip(acceptEncoding: string): boolean {
  return acceptEncoding.split(',').some((text) => {
    const { type, quality } = parseOffer(text);
    return type === 'gzip' && quality > 0;
  });
}

function parseOffer(text: string): Offer {
  const [type = '', ...rest] = text.split(';').map((item) => item.trim());
  const parameters = new Map(rest.map((item) => [item.split('=')[0]?.trim() ?? '', item.split('=')[1]?.trim() ?? '']));
  const quality = Number(parameters.get('q') ?? 1);
  return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 0 };
}
