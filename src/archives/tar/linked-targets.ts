import type { Member, MemberCollector } from '../member-collector.ts';
import { sanitizeName } from '../members/sanitize-name.ts';

type Linked = { readonly member: Member; readonly linkName: string };

/**
 * Finds hard links whose target is repeated after them. Readers that write the duplicate into the existing
 * file change the link, too; GNU tar replaces the file, so the link retains the earlier bytes.
 */
export class LinkedTargets {
  readonly #contents: MemberCollector;
  /** The first hard link to each target. */
  readonly #byTarget = new Map<string, Linked>();

  constructor(contents: MemberCollector) {
    this.#contents = contents;
  }

  add(target: string, member: Member, linkName: string): void {
    if (this.#contents.rejectsReplacedTargets && !this.#byTarget.has(target))
      this.#byTarget.set(target, { member, linkName });
  }

  /**
   * Adds a fault if a hard link shares the bytes that `path` had before. Another link to these is not a
   * change.
   */
  checkReplaced(path: string, member: Member): void {
    const linked = this.#byTarget.get(path);
    if (linked === undefined || linked.member === member) return;
    const text = `The member “${sanitizeName(path)}” comes again (duplicate) after the hard link “${sanitizeName(linked.linkName)}” to it: readers of tar differ in which bytes the link has. Pack each path once.`;
    this.#contents.faults.add('DUPLICATE', text);
  }
}
