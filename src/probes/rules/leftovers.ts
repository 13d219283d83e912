/**
 * What a command in a container left running. The runtime ends the command's first process. That process began a session of its own,
 * so what it has started can be distinguished from everything else in the container: by the session, whose first process is gone, and, for those
 * that began another session, by their parents as they were before.
 */
export interface ContainerProcess {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly startedAt: number;
}

/**
 * The first processes of commands that began after that time: the one that is about to be ended is among them. The runtime starts
 * them as it has started the container's own first process, the oldest: they have the same parent.
 */
export function firstProcesses(
  processes: readonly ContainerProcess[],
  startedFrom: number,
): readonly ContainerProcess[] {
  const [some] = processes;
  if (some === undefined) return [];
  const oldest = processes.reduce((old, process) => (process.startedAt < old.startedAt ? process : old), some);
  return processes.filter(
    ({ pid, parent, session, startedAt }) =>
      pid === session && pid !== oldest.pid && parent === oldest.parent && startedAt >= startedFrom,
  );
}

/** Of these first processes, those that have ended since. */
export function endedOf(
  first: readonly ContainerProcess[],
  after: readonly ContainerProcess[],
): readonly ContainerProcess[] {
  return first.filter((process) => !after.some((other) => isSame(process, other)));
}

/** All that belongs to these commands and still runs. */
export function leftoversOf(
  commands: readonly ContainerProcess[],
  before: readonly ContainerProcess[],
  after: readonly ContainerProcess[],
): readonly ContainerProcess[] {
  const sessions = new Set(commands.map(({ session }) => session));
  const family = familyOf(commands, before);
  return after.filter((process) => sessions.has(process.session) || family.some((member) => isSame(member, process)));
}

function familyOf(
  roots: readonly ContainerProcess[],
  processes: readonly ContainerProcess[],
): readonly ContainerProcess[] {
  const family = new Set(roots);
  // The set grows while it is walked: children of children. Numbers that were used twice could make a circle; a set has each once.
  for (const member of family) {
    for (const process of processes) if (process.parent === member.pid) family.add(process);
  }
  return [...family];
}

function isSame(a: ContainerProcess, b: ContainerProcess): boolean {
  return a.pid === b.pid && a.startedAt === b.startedAt;
}
