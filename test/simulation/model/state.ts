import type { Answer, FaultCode, Mode, Queue, ThinkingLevel, TrustScope } from '@holdfast/protocol'
import type { Key, Line, Node } from './tree.ts'

/** The sender of a command: one of two clients, or null for the program itself. */
export type Client = 'ann' | 'bob'
export type Sender = Client | null

/** What the agent may call: one that only looks, two that change something, and one that does not exist. */
export type ToolName = 'look' | 'touch' | 'shell' | 'nowhere'
export type ToolUse = { readonly tool: ToolName; readonly n: number }

export type Entry = { readonly id: number; readonly queue: Queue; readonly text: string }

export type Trusted = {
  readonly tool: string
  readonly scope: TrustScope /** Null: any arguments. */
  readonly n: number | null
}

/** A call that is not settled. `place` is its position in the tree. */
export type OpenCall = ToolUse & {
  readonly place: Key
  readonly status: 'requested' | 'asked' | 'approved' | 'running'
  /** The approval's id, read from the view. */
  readonly approval: number | null
}

export type Turn = {
  readonly number: number
  /** The tip of the line when its last answer was requested. */
  readonly begun: Key
  readonly phase: 'preparing' | 'thinking' | 'acting'
  /** Counts all requested answers, to distinguish a late answer from the current one. */
  readonly step: number
  /** How many answers this turn has cost. */
  readonly steps: number
  readonly isAnswered: boolean
  /** The streamed text of the answer, and the part that would survive a crash. */
  readonly streamed: string
  readonly saved: string
  /** The model asked last, how often for this answer, and whether a retry is scheduled. */
  readonly asked: string
  readonly tries: number
  readonly isPaused: boolean
  /** The fallback that answers instead of the session's model, and the models that failed. */
  readonly fallback: string | null
  readonly tried: readonly string[]
  /** The context that the model received. */
  readonly told: ModelContext
  readonly calls: readonly OpenCall[]
}

/** The context that a model must receive: the summary of what was cut off, then the messages in order. */
export type ModelContext = {
  /** The model and its thinking level. */
  readonly by: string
  readonly summary: string
  /** Pinned messages older than the context; they are quoted. */
  readonly pinned: readonly Key[]
  readonly prompt: Key | null
  readonly messages: readonly Key[]
}

/** A requested summary that a model is writing. */
export type SideWork = {
  /** Which sending of a command waits for it. */
  readonly ticket: number
  readonly kind: 'compact' | 'summarize'
  /** The context that the summary model must have received. */
  readonly of: ModelContext
  /** The first message that is kept. */
  readonly from: Key
}

export type Forked = {
  /** The command that asked for it. */
  readonly command: string
  /** The id the session gave it; null until it is known. */
  readonly name: string | null
  readonly born: State
}

export type AttachedClient = { readonly client: Client; readonly role: 'driver' | 'viewer'; readonly holds: number }

/**
 * The expected state of a session, as simple as possible. It shares no code with the core but the hash of arguments: it is written from the
 * description of the behaviour, so that the two can disagree.
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
  /** The trust of the workspace, set by any of its sessions; and the trust of the other folder. */
  readonly workspace: readonly Trusted[]
  readonly elsewhere: readonly Trusted[]
  readonly workdir: '/work' | '/moved'
  /** The title; empty if none was set. */
  readonly title: string
  readonly isPinned: boolean
  /** All messages, on any line. */
  readonly nodes: readonly Node[]
  /** The name of the current line, and the saved lines in the order they were left. */
  readonly branch: string | null
  readonly branches: readonly (Line & { readonly name: string })[]
  readonly branchesNamed: number
  readonly pins: readonly Key[]
  readonly folded: { readonly all: boolean; readonly except: readonly Key[] }
  /** Compactions that were undone. */
  readonly undone: readonly Key[]
  readonly sideWork: readonly SideWork[]
  readonly forks: readonly Forked[]
  /** The number of ancestors through forks. */
  readonly depth: number
  /** Answered approvals, with the client that answered, if any. */
  readonly decided: readonly { readonly approval: number; readonly by: string | null }[]
  readonly attachments: readonly AttachedClient[]
  readonly isAwake: boolean
<<<<<<< HEAD
  /** The answer of each admitted command. */
=======
  /** The answer to each accepted command. */
>>>>>>> 34e8ace (Rewrite the comments of the session model in plain words)
  readonly answered: ReadonlyMap<string, Answer>
}

export const stepsMax = 3
export const defaultModel = 'sim/model'
/** The fallback model. */
export const spareModel = 'sim/spare'

<<<<<<< HEAD
/** The expected answer of a command. */
=======
/** The expected answer to a command. */
>>>>>>> 34e8ace (Rewrite the comments of the session model in plain words)
export type ExpectedAnswer =
  | {
      readonly ok: true
      readonly isChange: boolean
      /** No answer yet: a model has to write something first. */
      readonly isPending?: boolean
      readonly result: Answer['result']
      /** The first answer to the same command: a retry must get the same one. */
      readonly first?: Answer
    }
  | {
      readonly ok: false
      readonly code: FaultCode /** The client that answered first, if known. */
      readonly by?: string
    }

<<<<<<< HEAD
/** What comes of an action: how the session then stands, and what whoever did it hears. */
=======
/** The result of an action: the next state, and the expected answer. */
>>>>>>> 34e8ace (Rewrite the comments of the session model in plain words)
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
