import type {
  ActiveSkill,
  BlobHash,
  CallId,
  Content,
  EventOf,
  Fault,
  HookRun,
  LineLength,
  RestoredFile,
  RotationEntry,
  Seq,
  SessionId,
  ThinkingLevel,
  TypedPrompt,
} from '@holdfast/protocol'
import type { StoredRule } from '../ports/permissions.ts'
import type { Draft } from '../ports/store/draft.ts'
import type { Pin } from './state.ts'

/** What the runtime looked up for a command before it is decided. */
export type Facts = {
  /** The rule that an answer for the workspace has stored. */
  readonly stored?: StoredRule | undefined
  /** Who answered the approval that the command names, when it is no longer open. */
  readonly decided?: { readonly by: string } | undefined
  /** The text of the running answer so far. */
  readonly draft?: Draft | null | undefined
  /** The output of running calls so far. */
  readonly printed?: Printed | undefined
  /** Where the named turn ends, and the length of the line there. */
  readonly end?: TurnEndPosition | undefined
  /** The named message, if it is on the line. */
  readonly message?: Readonly<{ isTold: boolean; isCall: boolean; tokens: number }> | undefined
  /** Whether any call of the line is shown collapsed. */
  readonly isAnyCollapsed?: boolean | undefined
  /** The newest answer on the line, where the state does not know it. */
  readonly lastAnswer?: Pin | null | undefined
  /** The first message to keep, and the tokens of those kept. */
  readonly keepFrom?: Readonly<{ seq: Seq; tokens: number; messages: number }> | undefined
  /** The text of the line that the command moves to, for lists. */
  readonly shown?: EventOf<'line.moved'>['shown']
  /** The summary that a program set, if the model sees it. */
  readonly setSummary?: string | undefined
  /** The context size of the model. */
  readonly contextTokens?: number | undefined
  readonly checkpoint?: NewCheckpoint | undefined
  /** About how many tokens of messages and summary the model sees now. */
  readonly windowTokens?: number | undefined
  readonly saved?: Pick<EventOf<'summary.saved'>, 'path' | 'text' | 'usage' | 'model'> | undefined
  /** What a restore is about to do to files. The runner does it before the decision, after its start is on record. */
  readonly restoring?: PlannedRestore | undefined
  /** What was done to files before the decision. */
  readonly restored?: Omit<EventOf<'files.restored'>, 'type'> | undefined
  /** The real path of the named folder. */
  readonly workdir?: string | undefined
  /** The models of the rotation that are ready. */
  readonly rotation?: readonly RotationEntry[] | undefined
  /** The thinking levels of the session's model; all when unknown. */
  readonly thinkingLevels?: readonly ThinkingLevel[] | undefined
  /** The named file, as a path in the workdir, and its content and the number of its lines if they are needed. */
  readonly file?:
    | {
        readonly path: string
        readonly content?: BlobHash | undefined
        readonly lines?: number | undefined
        /** The paths of boundaries that lead to it through a link now. */
        readonly linked?: readonly string[] | undefined
      }
    | undefined
  /** What a prompt that was a slash command has become: another prompt, or a message for people. */
  readonly expanded?:
    | ({ readonly content: Content } & TypedPrompt)
    | { readonly note: string; readonly name: string }
    | undefined
  /** The named skill, as it is now. */
  readonly skill?: Pick<ActiveSkill, 'name' | 'hash'> | undefined
  /** The hooks that ran for the command, and what they tell the model. */
  readonly hooks?: { readonly runs: readonly HookRun[]; readonly context: string | null } | undefined
  /** The cap that keeps a turn from starting, or why no cap can count its model. */
  readonly capped?: Fault | undefined
  /** Whether the caps were compared for an idle session, and none is reached. */
  readonly isUnderCaps?: boolean | undefined
  /** The id for a new fork. */
  readonly fork?: SessionId | undefined
}

/** A restore that was looked up. Nothing has changed yet. */
export type PlannedRestore = Pick<EventOf<'files.restored'>, 'refused' | 'undoOf'> & {
  /** The files to change. What is there now is stored. */
  readonly items: readonly RestoredFile[]
  /** Files that an interrupted restore has changed as this one would: they belong to this one, and to its undo. */
  readonly finished: readonly RestoredFile[]
  /** The paths that moves connect: all of a list are put back, or none. */
  readonly together: readonly (readonly string[])[]
}

export type TurnEndPosition = { readonly seq: Seq } & LineLength

/** A written summary of everything before `keepFrom`; it spares the model about `savedTokens`. */
export type NewCheckpoint = { readonly savedTokens: number } & Pick<
  EventOf<'checkpoint.written'>,
  'summary' | 'keepFrom' | 'prompt' | 'usage' | 'model'
>

/** Output by call, as far as it was shown. */
export type Printed = ReadonlyMap<CallId, string>
