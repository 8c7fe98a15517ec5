import { notReady, ok, type Result, refuse } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createReadiness } from './readiness.ts'
import { openTestServer } from './testing/test-server.ts'

/** A readiness whose clock and check the test controls. */
function openReadiness(check: () => Promise<Result<null>>) {
  const clock = { ms: 0, late: () => {} }
  const closing = new AbortController()
  const problems: unknown[] = []
  const ready = createReadiness({
    check,
    closing: closing.signal,
    now: () => clock.ms,
    after: (_, go) => {
      clock.late = go
      return () => {}
    },
    onProblem: (problem) => problems.push(problem),
  })
  const reason = async () => {
    const found = await ready()
    return found.ok ? 'ready' : found.fault.details?.['reason']
  }
  return { clock, closing, problems, ready, reason }
}

describe('readiness', () => {
  it('is checked once for all who ask within a second', async () => {
    let checks = 0
    const { ready, clock } = openReadiness(async () => {
      checks += 1
      return ok(null)
    })
    expect(await Promise.all([ready(), ready()])).toEqual([ok(null), ok(null)])
    await ready()
    expect(checks).toBe(1)
    clock.ms = 1000
    await ready()
    expect(checks).toBe(2)
  })

  it('ends at once when the server closes, also for a running check', async () => {
    const check = Promise.withResolvers<Result<null>>()
    const { closing, reason } = openReadiness(() => check.promise)
    const asked = reason()
    closing.abort()
    expect(await reason()).toBe('closing')
    check.resolve(ok(null))
    expect(await asked).toBe('closing')
  })

  it('is refused if the store refuses, throws or does not answer', async () => {
    expect(await openReadiness(async () => refuse(notReady('store', 'No.'))).reason()).toBe('store')
    const broken = openReadiness(() => Promise.reject(new Error('secret')))
    const found = await broken.ready()
    expect(JSON.stringify(found)).not.toContain('secret')
    expect(broken.problems).toMatchObject([{ cause: { message: 'secret' } }])
    const hanging = openReadiness(() => new Promise(() => {}))
    const asked = hanging.reason()
    hanging.clock.late()
    expect(await asked).toBe('timeout')
  })

  it('is told without a token: 200, or 503 with the reason and a time to wait', async () => {
    let answer: Result<null> = ok(null)
    await using test = await openTestServer({ ready: async () => answer })
    const first = await fetch(`${test.server.url}/v1/ready`)
    expect([first.status, await first.json()]).toEqual([200, { status: 'ready' }])
    answer = refuse(notReady('owner', 'Not known.'))
    test.clock.ms += 1000
    const second = await fetch(`${test.server.url}/v1/ready`)
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await second.json()).toMatchObject({ error: { code: 'not_ready', details: { reason: 'owner' } } })
  })
})
