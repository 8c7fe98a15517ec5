import type { ApprovalRule, CallId, HookEvent, HookRun, Mode, ModelName, SessionId } from '@holdfast/protocol'
import type { ToolArgs } from './tool.ts'

/** What happens, as hooks are told. */
export type HookMoment = Readonly<
  /** `call` is null for a command that a slash command runs: it is no call of the model. */
  | ({ event: 'PreToolUse' } & Omit<HookedCall, 'call'> & Readonly<{ call: CallId | null }>)
  | ({
      event: 'PostToolUse'
      result: { readonly text: string; readonly isError: boolean }
      durationMs: number
    } & HookedCall)
  | { event: 'UserPromptSubmit'; prompt: string }
  | { event: 'PreCompact'; trigger: 'manual' | 'auto' }
  | { event: 'SessionStart'; source: 'startup' | 'resume' | 'compact'; model: ModelName }
  | { event: 'SessionEnd'; reason: 'stopped' | 'closing' }
  /** `isGoingOn`: the turn goes on only because such a hook wanted it. */
  | { event: 'Stop'; isGoingOn: boolean; lastMessage: string | null }
  | { event: 'SubagentStop'; isGoingOn: boolean; lastMessage: string | null; child: SessionId; agent: string }
  | {
      event: 'Notification'
      kind: 'permission_prompt' | 'elicitation_dialog' | 'idle_prompt'
      message: string
      title: string
    }
>

/** A call, as hooks are told. */
export type HookedCall = Readonly<{ call: CallId; tool: string; args: ToolArgs }>

/** The session in which something happens. */
export type HookedSession = {
  /** Its id; in a subagent that of the session at the top of the tree. */
  readonly session: SessionId
  /** The subagent in which it happens; absent if it is none. */
  readonly agent?: { readonly session: SessionId; readonly kind: string } | undefined
  /** The folder that it works in. */
  readonly workdir: string
  /** Its mode. */
  readonly mode: Mode
  /** Which calls it asks about when no rule applies; `destructive` when undefined. */
  readonly approvals: ApprovalRule | undefined
}

/** What hooks decided, all together. */
export type HookAnswer = {
  /** Refuses what they were asked about, for this reason. For Stop: go on, for this reason. */
  readonly block: string | null
  /** For PreToolUse: whether to allow the call, or ask a person, besides the rules of the session. */
  readonly permission: 'allow' | 'ask' | null
  /** For PreToolUse: the arguments to use instead, and the hook that changed them last. */
  readonly args: { readonly value: ToolArgs; readonly by: string } | null
  /** For PostToolUse: the result to use instead. */
  readonly result: string | null
  /** Text for the model. */
  readonly context: string | null
  /** Ends the turn, for this reason. */
  readonly stop: string | null
}

/** A hook that ran, with all that it printed. */
export type RanHook = Omit<HookRun, 'output'> & { readonly printed: string }

/** Runs the programs and functions that people want to run at certain moments. */
export interface Hooks {
  /** Whether a hook may run at such a moment in this folder, as far as it is known. Reads no file. */
  has(event: HookEvent, workdir: string): boolean
  /**
   * Looks again for the hooks of a workspace: a person may have trusted some, or taken the trust back. Called before each
   * turn.
   */
  refresh(workdir: string): Promise<void>
  /** Runs all hooks of a moment and joins their answers. Returns null if there are none. Never rejects. */
  run(moment: HookMoment, session: HookedSession, signal: AbortSignal): Promise<HooksRan | null>
}

/** What came of the hooks of a moment. */
export type HooksRan = { readonly answer: HookAnswer; readonly runs: readonly RanHook[] }
