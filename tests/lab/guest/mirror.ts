/** Where the packages of the guest come from: the same place as the machine's own. */
export interface Mirror {
  /** As debootstrap knows it: `bookworm`. */
  readonly suite: string;
  readonly address: string;
}

/** For `apt-get indextargets --format`: one line for each index that the machine's sources name. */
export const INDEX_FORMAT = '$(ORIGIN)|$(CODENAME)|$(COMPONENT)|$(REPO_URI)';

/** The plain suite of Debian itself: not its updates (`bookworm-updates`), and no one else's repository of the same name. */
export function chooseMirror(indexes: string): Mirror {
  const lines = indexes.split('\n').filter((line) => line !== '');
  for (const line of lines) {
    const [origin, suite = '', component, address = ''] = line.split('|');
    if (origin === 'Debian' && component === 'main' && /^[a-z]+$/.test(suite) && address !== '') {
      return { suite, address };
    }
  }
  throw new Error(
    `the guest is made from Debian's packages, but this machine's apt sources name no plain Debian suite: ${lines.join(', ') || 'none at all'}`,
  );
}
