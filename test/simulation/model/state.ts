import type { Answer, CallStatus, FaultCode, Mode, Queue, TrustScope } from '@holdfast/protocol'

/** Who sends a command: two people at their screens, or the program that holds the session, which has no name. */
export type Client = 'ann' | 'bob'
export type Sender = Client | null

/** What the agent may call: one that only looks, two that change something, and one that does not exist. */
export type ToolName = 'look' | 'touch' | 'shell' | 'nowhere'
export type Use = { readonly tool: ToolName; readonly n: number }

export type Entry = { readonly id: number; readonly queue: Queue; readonly text: string }

export type Trusted = {
  readonly tool: string
  readonly scope: TrustScope /** Null: whatever the arguments. */
  readonly n: number | null
}

/** A call that is not settled. `place` is where it stands in the transcript. */
export type OpenCall = Use & {
  readonly place: number
  readonly status: 'requested' | 'asked' | 'approved' | 'running'
  /** What the session calls the question; read off its screen, as a person would. */
  readonly approval: number | null
}

export type Turn = {
  readonly phase: 'preparing' | 'thinking' | 'acting'
  /** Counts all answers the model was ever asked for, so that a late one is told from the present. */
  readonly step: number
  /** How many answers this turn has cost. */
  readonly steps: number
  readonly isAnswered: boolean
  /** What the model has said of its answer, and how much of it would survive a crash. */
  readonly streamed: string
  readonly saved: string
  readonly calls: readonly OpenCall[]
}

export type Said =
  | { readonly who: 'user'; readonly text: string }
  | { readonly who: 'agent'; readonly text: string; readonly isCut: boolean; readonly isPinned: boolean }
  | { readonly who: 'call'; readonly tool: string; readonly status: CallStatus }

export type Seat = { readonly client: Client; readonly role: 'driver' | 'viewer'; readonly holds: number }

/**
 * What a session must be, in the plainest words there are. It shares no code with the core but the hash of arguments: it is written from the
 * description of the behaviour, so that the two can disagree.
 */
export type State = {
  readonly mode: Mode
  readonly turn: Turn | null
  readonly last: 'done' | 'aborted' | 'failed' | 'interrupted' | 'limit'
  readonly step: number
  readonly steering: readonly Entry[]
  readonly followUps: readonly Entry[]
  readonly trust: readonly Trusted[]
  readonly transcript: readonly Said[]
  /** Questions that were answered, one way or the other, and by whom where a person did. */
  readonly decided: readonly { readonly approval: number; readonly by: string | null }[]
  readonly seats: readonly Seat[]
  readonly isAwake: boolean
  /** What each admitted command was answered. */
  readonly answered: ReadonlyMap<string, Answer>
}

export const stepsMax = 3

/** Where every story begins: one turn is over. A session nobody has spoken in may vanish. */
export const atFirst: State = {
  mode: 'exec',
  turn: null,
  last: 'done',
  step: 1,
  steering: [],
  followUps: [],
  trust: [],
  transcript: [
    { who: 'user', text: 'Begin.' },
    { who: 'agent', text: 'Ready.', isCut: false, isPinned: false },
  ],
  decided: [],
  seats: [],
  isAwake: true,
  answered: new Map(),
}

/** What a command must be answered. */
export type Says =
  | {
      readonly ok: true
      readonly isChange: boolean
      readonly result: Answer['result']
      /** The answer to the same command before: it must be the very same now. */
      readonly first?: Answer
    }
  | {
      readonly ok: false
      readonly code: FaultCode /** Whose answer came first, where it is known. */
      readonly by?: string
    }

/** What comes of a deed: how the session then stands, and what whoever did it hears. */
export type Outcome = { readonly state: State; readonly says: Says }

export const accepted = (state: State, result: Answer['result'] = {}): Outcome => ({
  state,
  says: { ok: true, isChange: true, result },
})
export const nothingToDo = (state: State): Outcome => ({ state, says: { ok: true, isChange: false, result: {} } })
export const refused = (state: State, code: FaultCode, by?: string): Outcome => ({
  state,
  says: { ok: false, code, ...(by !== undefined && { by }) },
})
