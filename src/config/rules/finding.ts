/** One result of validation: the field or flag, its value, and the rule. */
export type Finding = {
  readonly severity: 'problem' | 'warning';
  /** A field path (`evictionHard.memory.available`, `registerWithTaints[0].key`) or a flag (`--node-ip`). */
  readonly path: string;
  readonly value: unknown;
  readonly rule: string;
};

/** Validators are generators: each finding is yielded beside its rule, and none stops the others. */
export type Findings = Iterable<Finding>;

/** The configuration is refused. */
export function problem(path: string, value: unknown, rule: string): Finding {
  return { severity: 'problem', path, value, rule };
}

/** The reference accepts the value although it makes no sense or has no effect: so does this kubelet, with a warning. */
export function warning(path: string, value: unknown, rule: string): Finding {
  return { severity: 'warning', path, value, rule };
}

/** `"a", "b" or "c"`. */
export function listed(allowed: readonly (string | number)[]): string {
  const quoted = allowed.map((value) => JSON.stringify(value));
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}

/** A problem unless the value is one of the allowed ones. */
export function* oneOf(path: string, value: string, allowed: readonly string[]): Findings {
  if (!allowed.includes(value)) yield problem(path, value, `must be ${listed(allowed)}`);
}
