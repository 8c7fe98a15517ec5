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
  readonly scope: TrustScope /** Null: whatever the arguments. */
  readonly n: number | null
}

/** A call that is not settled. `place` is where it stands in the tree. */
export type OpenCall = ToolUse & {
  readonly place: Key
  readonly status: 'requested' | 'asked' | 'approved' | 'running'
  /** What the session calls the question; read off its screen, as a person would. */
  readonly approval: number | null
}

export type Turn = {
  readonly number: number
  /** Where the line stood when its last answer was asked for. */
  readonly begun: Key
  readonly phase: 'preparing' | 'thinking' | 'acting'
  /** Counts all answers the model was ever asked for, so that a late one is told from the present. */
  readonly step: number
  /** How many answers this turn has cost. */
  readonly steps: number
  readonly isAnswered: boolean
  /** What the model has said of its answer, and how much of it would survive a crash. */
  readonly streamed: string
  readonly saved: string
  /** Which model was asked last, how often for this answer, and whether it is to be asked again in a while. */
  readonly asked: string
  readonly tries: number
  readonly isPaused: boolean
  /** Who answers in place of the session's model, and who could not. */
  readonly fallback: string | null
  readonly tried: readonly string[]
  /** What the model was told when it was asked. */
  readonly told: ModelContext
  readonly calls: readonly OpenCall[]
}

/** What a model must be told: in place of what was cut off, and then what was said, in order. */
export type ModelContext = {
  /** Which model, and how hard it is to think. */
  readonly by: string
  readonly summary: string
  /** Older than what is told, and quoted. */
  readonly pinned: readonly Key[]
  readonly prompt: Key | null
  readonly messages: readonly Key[]
}

/** A summary that someone asked for and a model is writing. */
export type SideWork = {
  /** Which sending of a command waits for it. */
  readonly ticket: number
  readonly kind: 'compact' | 'summarize'
  /** What the model that writes it must have been told. */
  readonly of: ModelContext
  /** Where what is kept begins. */
  readonly from: Key
}

export type Forked = {
  /** The command that asked for it. */
  readonly command: string
  /** What the session calls it; null as long as nobody has heard. */
  readonly name: string | null
  readonly born: State
}

export type AttachedClient = { readonly client: Client; readonly role: 'driver' | 'viewer'; readonly holds: number }

/**
 * What a session must be, in the plainest words there are. It shares no code with the core but the hash of arguments: it is written from the
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
  /** What the whole workspace trusts, whichever of its sessions said so; and what the folder trusts that it is not in. */
  readonly workspace: readonly Trusted[]
  readonly elsewhere: readonly Trusted[]
  readonly workdir: '/work' | '/moved'
  /** What someone named it; empty when nobody did. */
  readonly title: string
  readonly isPinned: boolean
  /** All that was ever said, on whatever line. */
  readonly nodes: readonly Node[]
  /** The name of the line it stands on, and the lines it left, in the order it left them. */
  readonly branch: string | null
  readonly branches: readonly (Line & { readonly name: string })[]
  readonly branchesNamed: number
  readonly pins: readonly Key[]
  readonly folded: { readonly all: boolean; readonly except: readonly Key[] }
  /** Compactions that were taken back. */
  readonly undone: readonly Key[]
  readonly sideWork: readonly SideWork[]
  readonly forks: readonly Forked[]
  /** How many sessions it was forked from, one from the other. */
  readonly depth: number
  /** Questions that were answered, one way or the other, and by whom where a person did. */
  readonly decided: readonly { readonly approval: number; readonly by: string | null }[]
  readonly attachments: readonly AttachedClient[]
  readonly isAwake: boolean
  /** The answer of each admitted command. */
  readonly answered: ReadonlyMap<string, Answer>
}

export const stepsMax = 3
export const defaultModel = 'sim/model'
/** Answers where the session's model cannot. */
export const spareModel = 'sim/spare'

/** The expected answer of a command. */
export type ExpectedAnswer =
  | {
      readonly ok: true
      readonly isChange: boolean
      /** Nothing is heard yet: someone has to write something first. */
      readonly isPending?: boolean
      readonly result: Answer['result']
      /** The answer to the same command before: it must be the very same now. */
      readonly first?: Answer
    }
  | {
      readonly ok: false
      readonly code: FaultCode /** Whose answer came first, where it is known. */
      readonly by?: string
    }

/** What comes of an action: how the session then stands, and what whoever did it hears. */
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
