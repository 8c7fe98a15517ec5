import type { Provider } from '@holdfast/core/ports'

/**
 * A provider whose library is loaded at its first call, so that starting the program costs nothing for it.
 * A library that does not load is a failed end like any other.
 */
export function createLazyProvider(load: () => Promise<Provider>): Provider {
  return {
    async *stream(request, options) {
      let provider: Provider
      try {
        provider = await load()
      } catch (error) {
        const message = `The library for ${request.model} could not be loaded. Check its address and the installation.`
        const fault = { kind: 'passthrough' as const, message, detail: String(error) }
        return yield { type: 'end', end: { type: 'failed', fault, retryable: false, retryAfterMs: null, usage: null } }
      }
      yield* provider.stream(request, options)
    },
  }
}
