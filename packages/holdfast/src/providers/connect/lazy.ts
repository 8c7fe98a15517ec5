import type { ModelPart, ModelRequest, Provider } from '@holdfast/core/ports'

/**
 * A provider whose library is loaded at its first call, so that starting the program costs nothing for it.
 * A library that does not load is a failed end like any other.
 */
export function createLazyProvider(load: () => Promise<Provider>): Provider {
  return {
    stream: (request, options) =>
      openedLate(() =>
        load().then(
          (provider) => provider.stream(request, options),
          (error: unknown) => unloadable(request, error),
        ),
      ),
  }
}

/** Asks the stream itself for each part: a generator between the two would cost every fragment. */
function openedLate(open: () => Promise<AsyncIterable<ModelPart>>): AsyncIterable<ModelPart> {
  return {
    [Symbol.asyncIterator]() {
      let parts: AsyncIterator<ModelPart> | null = null
      const begin = async () => {
        parts = (await open())[Symbol.asyncIterator]()
        return parts.next()
      }
      return {
        next: () => parts?.next() ?? begin(),
        return: async () => (await parts?.return?.()) ?? { done: true, value: undefined },
      }
    },
  }
}

async function* unloadable({ model }: ModelRequest, error: unknown): AsyncGenerator<ModelPart> {
  const message = `The library for ${model} could not be loaded. Check its address and the installation.`
  const fault = { kind: 'passthrough' as const, message, detail: String(error) }
  yield { type: 'end', end: { type: 'failed', fault, retryable: false, retryAfterMs: null, usage: null } }
}
