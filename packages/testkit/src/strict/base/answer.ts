import type { Gate } from '../../runtime/gate.ts'

/** What a server does with one request. `Block` is a piece of an answer, in the words of its service. */
export type StrictAnswer<Block, Usage> =
  | {
      readonly type: 'message'
      readonly content: readonly Block[]
      readonly stopReason?: string
      readonly usage?: Partial<Usage>
      /** Where the stream leaves its course, counted in events, and how. */
      readonly after?: { readonly events: number; readonly detour: StreamDisruption }
      /** Comes in pieces of so many bytes, through the middle of events and characters, each after a while. */
      readonly dribble?: Dribble
    }
  | {
      readonly type: 'error'
      readonly status: number
      readonly message: string
      readonly headers?: { readonly [name: string]: string }
    }
  /** An error that is no JSON of the service's, such as a proxy's page. */
  | { readonly type: 'page'; readonly status: number; readonly body: string }
  /** Takes the request and never answers. */
  | { readonly type: 'hang' }
  /** Closes the connection without an answer. */
  | { readonly type: 'drop' }

export type MessageOf<Answer> = Extract<Answer, { readonly type: 'message' }>

export type Dribble = { readonly bytes: number; readonly everyMs: number }

export type StreamDisruption =
  | { readonly type: 'cut' }
  /** Writes this as it stands, and goes on. */
  | { readonly type: 'noise'; readonly text: string }
  /** Ends the body in good order, but too early. */
  | { readonly type: 'stop' }
  | { readonly type: 'hang' }
  | { readonly type: 'wait'; readonly gate: Gate }
  | StreamError

/** An error in the middle of a stream. */
export type StreamError = { readonly type: 'error'; readonly error: string; readonly message: string }

/** Splits text into two fragments, never inside a character. */
export function halves(text: string): readonly string[] {
  const chars = [...text]
  const middle = Math.ceil(chars.length / 2)
  return [chars.slice(0, middle).join(''), chars.slice(middle).join('')].filter((half) => half !== '')
}
