import type { Gate } from '../../runtime/gate.ts'

/** A server's reaction to one request. `Block` is a piece of an answer in the format of its service. */
export type StrictAnswer<Block, Usage> =
  | {
      readonly type: 'message'
      readonly content: readonly Block[]
      readonly stopReason?: string
      readonly usage?: Partial<Usage>
      /** A disruption after this many events of the stream. */
      readonly after?: { readonly events: number; readonly detour: StreamDisruption }
      /** Sends the body slowly, in pieces of this many bytes that may split events and characters. */
      readonly dribble?: Dribble
    }
  | {
      readonly type: 'error'
      readonly status: number
      readonly message: string
      readonly headers?: { readonly [name: string]: string }
    }
  /** An error with a body that is not the service's JSON, such as the error page of a proxy. */
  | { readonly type: 'page'; readonly status: number; readonly body: string }
  /** Accepts the request and never answers. */
  | { readonly type: 'hang' }
  /** Closes the connection without an answer. */
  | { readonly type: 'drop' }

/** The answers that are a message. */
export type MessageOf<Answer> = Extract<Answer, { readonly type: 'message' }>

/** A stream that is sent in small pieces. */
export type Dribble = { readonly bytes: number; readonly everyMs: number }

/** How a stream breaks. */
export type StreamDisruption =
  | { readonly type: 'cut' }
  /** Sends this text unchanged and continues. */
  | { readonly type: 'noise'; readonly text: string }
  /** Ends the body normally, but too early. */
  | { readonly type: 'stop' }
  | { readonly type: 'hang' }
  | { readonly type: 'wait'; readonly gate: Gate }
  | StreamError

/** An error in the middle of a stream. */
/** An error in the middle of a stream. */
export type StreamError = { readonly type: 'error'; readonly error: string; readonly message: string }

/** Splits text into two fragments, never inside a character. */
export function halves(text: string): readonly string[] {
  const chars = [...text]
  const middle = Math.ceil(chars.length / 2)
  return [chars.slice(0, middle).join(''), chars.slice(middle).join('')].filter((half) => half !== '')
}
