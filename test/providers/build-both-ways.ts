import type { Blobs, ModelRequest, RequestAsked, RequestBuilder, Store } from '@holdfast/core/ports'
import { createRequestBuilder } from '@holdfast/core/requests'
import { createRequestThread } from '../../packages/holdfast/src/context/requests/request-thread.ts'
import type { RequestSource } from '../../packages/holdfast/src/context/requests/request-worker.ts'

export type BothBuilders = AsyncDisposable & {
  here(asked: RequestAsked): Promise<ModelRequest>
  /** Builds on the worker thread; retries until it is ready. */
  there(asked: RequestAsked): Promise<ModelRequest>
}

/** The two ways in which the runtime builds a request: in this process, and on the worker thread. */
export function openBothBuilders(store: Store, blobs: Blobs, source: RequestSource): BothBuilders {
  const requests = createRequestBuilder(store, blobs)
  let builtHere = 0
  const counted: RequestBuilder = {
    ...requests,
    build(asked) {
      builtHere += 1
      return requests.build(asked)
    },
  }
  const onProblem = ({ cause }: { readonly cause: unknown }) => {
    throw cause
  }
  const thread = createRequestThread({ source, here: counted, onProblem })
  return {
    here: (asked) => requests.build(asked),
    async there(asked) {
      for (;;) {
        const before = builtHere
        const request = await thread.build(asked)
        if (builtHere === before) return request
      }
    },
    [Symbol.asyncDispose]: () => thread.close(),
  }
}
