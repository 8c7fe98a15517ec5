import type { ModelRequest, RequestAsked } from '@holdfast/core/ports'
import type { Fault } from '@holdfast/protocol'

/** Where the thread reads: the store's file, and the directory of its blobs. */
export type RequestSource = { readonly path: string; readonly blobsDir: string }

/** A question with its number. Null is the last: what is under way is answered, and the thread ends. */
export type ToThread = { readonly number: number; readonly asked: RequestAsked } | null

/** `up` once all is loaded; then an answer for each question, in any order. */
export type FromThread = 'up' | { readonly number: number; readonly built: Built }

export type Built =
  | { readonly type: 'built'; readonly request: ModelRequest }
  | { readonly type: 'damaged'; readonly seq: number }
  | { readonly type: 'failed'; readonly fault: Fault }
  /** Nobody foresaw it: our bug. */
  | { readonly type: 'broken'; readonly why: string }
