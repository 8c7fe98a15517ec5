import type { Answer, CommandInput, FaultCode, Mode, Queue, ThinkingLevel, TrustScope } from '@holdfast/protocol'
import type { Key, Line, Node } from './tree.ts'

/** The sender of a command: one of two clients, or null for the program itself. */
export type Client = 'ann' | 'bob'
export type Sender = Client | null

/** The tools of the agent: a read-only one, two destructive ones, and one that does not exist. */
export type ToolName = 'look' | 'touch' | 'shell' | 'nowhere'
export type ToolUse = { readonly tool: ToolName; readonly n: number }

export type Entry = { readonly id: number; readonly queue: Queue; readonly text: string }

export type Trusted = {
  readonly tool: string
  readonly scope: TrustScope /** Null for all arguments. */
  readonly n: number | null
}

/** A call that is not settled. `place` is the key of its node. */
export type OpenCall = ToolUse & {
  readonly place: Key
  readonly status: 'requested' | 'asked' | 'approved' | 'running'
  /** The id of its approval, taken from the session as a client does. */
  readonly approval: number | null
}

export type Turn = {
  readonly number: number
  /** The tip of the line when the last answer was requested. */
  readonly begun: Key
  readonly phase: 'preparing' | 'thinking' | 'acting'
  /** Counts all requested answers, to distinguish a late answer from the current one. */
  readonly step: number
  /** The number of answers in this turn. */
  readonly steps: number
  readonly isAnswered: boolean
  /** The streamed text of the answer, and the part that would survive a crash. */
  readonly streamed: string
  readonly saved: string
  /** The model called last, its tries for this answer, and whether it waits for a retry. */
  readonly asked: string
  readonly tries: number
  readonly isPaused: boolean
  /** The fallback model, and the models that failed. */
  readonly fallback: string | null
  readonly tried: readonly string[]
  /** The context of the last model call. */
  readonly context: ModelContext
  readonly calls: readonly OpenCall[]
}

/** The expected context of a model call: the summary of what was cut, then the messages in order. */
export type ModelContext = {
  /** The model and its thinking level. */
  readonly by: string
  readonly summary: string
  /** Pinned messages before the window, which are quoted. */
  readonly pinned: readonly Key[]
  readonly prompt: Key | null
  readonly messages: readonly Key[]
}

/** A requested summary that a model is writing. */
export type SideWork = {
  /** The ticket of the request that waits for it. */
  readonly ticket: number
  readonly kind: 'compact' | 'summarize'
  /** The expected context of its model call. */
  readonly of: ModelContext
  /** The first message that stays. */
  readonly from: Key
}

export type Forked = {
  /** The command that requested it. */
  readonly command: string
  /** Its id in the session; null until it is known. */
  readonly name: string | null
  readonly born: State
}

export type AttachedClient = { readonly client: Client; readonly role: 'driver' | 'viewer'; readonly holds: number }

/**
 * The expected state of a session. Except for the hash of arguments it shares no code with the core and is written from the
 * description of the behaviour, so that a mistake in one is found by the other.
 */
export type State = Line & {
  readonly mode: Mode
  readonly model: string
  readonly thinkingLevel: ThinkingLevel
  readonly turn: Turn | null
  readonly step: number
  readonly steering: readonly Entry[]
  readonly followUps: readonly Entry[]
  readonly trust: readonly Trusted[]
  /** The trust of the workspace, granted by any of its sessions, and the trust of the other folder. */
  readonly workspace: readonly Trusted[]
  readonly elsewhere: readonly Trusted[]
  readonly workdir: '/work' | '/moved'
  /** The skills that it follows, the newest last. */
  readonly skills: readonly string[]
  /** The servers that it does not use. */
  readonly serversOff: readonly string[]
  readonly boundaries: readonly { readonly path: string; readonly start: number; readonly end: number }[]
  /** The first prompt, remembered when its line is cut; null: the first one of the line. */
  readonly preview: string | null
  /** The given title; empty if there is none. */
  readonly title: string
  readonly isPinned: boolean
  /** All messages of all lines. */
  readonly nodes: readonly Node[]
  /** The name of the current line, and the saved branches in the order they were saved. */
  readonly branch: string | null
  readonly branches: readonly (Line & { readonly name: string })[]
  readonly branchesNamed: number
  readonly pins: readonly Key[]
  readonly folded: { readonly all: boolean; readonly except: readonly Key[] }
  /** Undone checkpoints. */
  readonly undone: readonly Key[]
  readonly sideWork: readonly SideWork[]
  readonly forks: readonly Forked[]
  /** The number of its ancestors. */
  readonly depth: number
  /** Decided approvals, with the person who decided, if any. */
  readonly decided: readonly { readonly approval: number; readonly by: string | null }[]
  readonly attachments: readonly AttachedClient[]
  readonly isLoaded: boolean
  /** The answer of each admitted command. */
  readonly answered: ReadonlyMap<string, AnsweredCommand>
}

export const stepsMax = 3
export const defaultModel = 'sim/model'
/** The fallback of the session's model. */
export const spareModel = 'sim/spare'

/** The expected answer of a command. */
export type ExpectedAnswer =
  | {
      readonly ok: true
      readonly isChange: boolean
      /** There is no answer yet: a summary must be written first. */
      readonly isPending?: boolean
      readonly result: Answer['result']
      /** The earlier answer of the same command, which must be repeated. */
      readonly first?: Answer
    }
  | {
      readonly ok: false
      readonly code: FaultCode /** Whose answer came first, where it is known. */
      readonly by?: string
    }

/** The result of an action: the new state and the expected answer. */
export type Outcome = { readonly state: State; readonly says: ExpectedAnswer }

export const accepted = (state: State, result: Answer['result'] = {}): Outcome => ({
  state,
  says: { ok: true, isChange: true, result },
})
export const pending = (state: State): Outcome => ({
  state,
  says: { ok: true, isChange: false, isPending: true, result: {} },
})
export const nothingToDo = (state: State): Outcome => ({ state, says: { ok: true, isChange: false, result: {} } })
export const refused = (state: State, code: FaultCode, by?: string): Outcome => ({
  state,
  says: { ok: false, code, ...(by !== undefined && { by }) },
})

/** The answer to a command, and the command: its id is refused for another one. */
export type AnsweredCommand = Answer & { readonly command: CommandInput }
