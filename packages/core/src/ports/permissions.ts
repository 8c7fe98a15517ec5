import type { Fault, Permission, Result } from '@holdfast/protocol'
import type { ToolArgs } from './tool.ts'

/** A call, as rules see it. */
export type RuledCall = { readonly tool: string; readonly args: ToolArgs; readonly workdir: string }

/** What the rules say about a call. */
export type Ruling =
  /** `by` names the rules: "your rule `git status`". */
  | { readonly verdict: Permission['verdict']; readonly by: string }
  /**
   * The rules cannot be read, or the call is too long to be compared with them, so a person decides. `away` is set if their
   * store does not answer now: nobody is asked, because they can be read when it is back.
   */
  | { readonly verdict: 'unknown'; readonly reason: string; readonly away?: Fault }

/** A stored rule, with the words that name it. */
export type StoredRule = { readonly rule: Permission; readonly by: string }

/** Judges calls by the rules of their session and of the user. */
export interface Permissions {
  /** Returns what the rules say now: deny beats ask beats allow; null when none applies. `own` are the session's rules. */
  judge(call: RuledCall, own: readonly Permission[]): Promise<Ruling | null>
  /** Refuses rules of a new session of which one would allow too much, as every command. Refused: bad_request. */
  refuse(own: readonly Permission[]): Result<undefined>
  /** Stores a rule of the user that allows this call in this workspace. Returns null if the call is too long for a rule. */
  allow(call: RuledCall): Promise<Result<StoredRule | null>>
}
