import type { ModelEnd } from '@holdfast/core/ports'
import type { DemoFailure } from './line.ts'

type Failed = Extract<ModelEnd, { readonly type: 'failed' }>

const words: Readonly<Record<DemoFailure, readonly [happened: string, next: string]>> = {
  rejected_key: ['The demo was asked to have its key rejected.', 'With a real model: check the key, then continue.'],
  rate_limited: ['The demo was asked to be limited.', 'With a real model: wait a little, then continue.'],
  auth_failed: ['The demo was asked to be refused access.', 'With a real model: use another key or model.'],
  unreachable: ['The demo was asked to be out of reach.', 'With a real model: check the network, then continue.'],
  raw_dump: ['The demo was asked to fail without a clear reason.', 'With a real model: the log has what it sent.'],
  cut: ['The demo was asked to break off half-way.', 'Continue to take the answer up again.'],
}

/** The end a person asked for by `fail`, the same in kind and retrying as the real one. */
export const failureEnd = (failure: DemoFailure): Failed => ({
  type: 'failed',
  fault: {
    kind: failure === 'cut' ? 'unreachable' : failure,
    message: words[failure].join(' '),
    detail: `demo: fail ${failure}`,
  },
  happened: words[failure][0],
  retryable: failure === 'rate_limited' || failure === 'unreachable' || failure === 'cut',
  retryAfterMs: null,
  usage: null,
})
