/** Collects the errors of an object while it is validated, so that all of them are reported at once. */
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  required,
  tooLong,
  tooMany,
  unsupported,
} from '../field-error.ts';

/** What is wrong with a text, or undefined. */
export type TextRule = (text: string) => string | undefined;

/** The indices at which a text stands that stood before. */
export function repeated(texts: readonly (string | undefined)[]): ReadonlySet<number> {
  const seen = new Set<string | undefined>();
  const found = new Set<number>();
  texts.forEach((text, index) => {
    if (seen.has(text)) found.add(index);
    seen.add(text);
  });
  return found;
}

export class Faults {
  readonly found: FieldError[] = [];

  required(path: string, detail?: string): void {
    this.found.push(required(path, detail));
  }

  invalid(path: string, value: unknown, detail: string): void {
    this.found.push(invalid(path, value, detail));
  }

  forbidden(path: string, detail: string): void {
    this.found.push(forbidden(path, detail));
  }

  duplicate(path: string, value: unknown): void {
    this.found.push(duplicate(path, value));
  }

  tooLong(path: string, most: number): void {
    this.found.push(tooLong(path, most));
  }

  tooMany(path: string, found: number, most: number): void {
    this.found.push(tooMany(path, found, most));
  }

  notFound(path: string, value: unknown, detail = ''): void {
    this.found.push({ path, kind: 'Not found', value, detail });
  }

  /** A word that must be one of those. Missing and empty are the same: required, unless it may be left out. */
  oneOf(path: string, word: string | undefined, words: readonly string[], rule: 'required' | 'optional'): void {
    if (!word) {
      if (rule === 'required') this.required(path);
    } else if (!words.includes(word)) this.found.push(unsupported(path, word, words));
  }

  unsupported(path: string, value: unknown, supported: readonly string[]): void {
    this.found.push(unsupported(path, value, supported));
  }

  text(path: string, text: string, rule: TextRule): void {
    const fault = rule(text);
    if (fault !== undefined) this.invalid(path, text, fault);
  }

  /** Each of several texts. */
  texts(path: string, texts: readonly string[], rule: TextRule): void {
    for (const [index, text] of texts.entries()) this.text(`${path}[${index}]`, text, rule);
  }

  requiredText(path: string, text: string | undefined, rule: TextRule = () => undefined): void {
    if (!text) this.required(path);
    else this.text(path, text, rule);
  }

  optionalText(path: string, text: string | undefined, rule: TextRule): void {
    if (text) this.text(path, text, rule);
  }

  range(path: string, value: number | undefined, lowest: number, highest: number): void {
    if (value === undefined || (value >= lowest && value <= highest)) return;
    this.invalid(path, value, `must be between ${lowest} and ${highest}, inclusive`);
  }

  notNegative(path: string, value: number | undefined): void {
    if (value !== undefined && value < 0) this.invalid(path, value, 'must be greater than or equal to 0');
  }

  /** Each name once; empty names are reported elsewhere. */
  unique<T>(items: readonly T[], nameOf: (item: T) => string | undefined, pathOf: (index: number) => string): void {
    const seen = new Set<string>();
    items.forEach((item, index) => {
      const name = nameOf(item);
      if (!name) return;
      if (seen.has(name)) this.duplicate(pathOf(index), name);
      seen.add(name);
    });
  }
}
