import { existsSync } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limits, type Result } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { spoolBody } from './spool-body.ts'

let base = ''
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'hf-body-'))
})
afterEach(() => rm(base, { recursive: true, force: true }))

const mebibyte = new Uint8Array(1024 * 1024)

/** A request whose body is made as it is read: it names no length. */
function requestOf(pull: (controller: ReadableStreamDefaultController<Uint8Array>, count: number) => void): Request {
  let count = 0
  const body = new ReadableStream<Uint8Array>({ pull: (controller) => pull(controller, count++) })
  return new Request('http://localhost/', { method: 'POST', body, duplex: 'half' } as RequestInit) // lib.dom lacks `duplex`
}

const brief = () =>
  requestOf((controller, count) => {
    if (count === 0) controller.enqueue(Buffer.from('hello'))
    else controller.close()
  })

async function keep(request: Request, path = join(base, 'kept')): Promise<Result<null>> {
  await using file = await open(path, 'w')
  return await spoolBody(request, file)
}

describe('the body of a request', () => {
  it('is kept as it came', async () => {
    expect(await keep(brief())).toEqual({ ok: true, value: null })
    expect(await readFile(join(base, 'kept'), 'utf8')).toBe('hello')
  })

  it('is cut off where it grows too large, with a word on what to do', async () => {
    const refused = await keep(requestOf((controller) => controller.enqueue(mebibyte)))
    expect(refused).toMatchObject({
      ok: false,
      fault: { code: 'too_large', message: expect.stringContaining('holdfast import') },
    })
    const named = new Request('http://localhost/', {
      method: 'POST',
      headers: { 'content-length': String(limits.importBytesMax + 1) },
      body: 'short',
    })
    expect(await keep(named)).toMatchObject({ ok: false, fault: { code: 'too_large' } })
  })

  it('that breaks off is the request that is at fault', async () => {
    const broken = requestOf((controller) => controller.error(new Error('the client hung up')))
    expect(await keep(broken)).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
  })

  it.runIf(existsSync('/dev/full'))('that finds no room is the disk that is at fault', async () => {
    expect(await keep(brief(), '/dev/full')).toMatchObject({
      ok: false,
      fault: { code: 'storage_error', details: { reason: 'disk_full', errno: 'ENOSPC' } },
    })
  })
})
