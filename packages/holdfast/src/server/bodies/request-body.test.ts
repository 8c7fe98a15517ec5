import { existsSync } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limits, type Result } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { spoolBody } from '../routes/sessions/transfer.ts'
import { sessionId } from '../testing/fake-sessions.ts'
import { codeOf, openTestServer } from '../testing/test-server.ts'
import { parseJson } from './request-body.ts'
import { scanSliceBytes } from './scan-json.ts'

const path = `/v1/sessions/${sessionId}/commands`
const prompt = (content: string) => `{"type":"sendPrompt","content":${content}}`

const manyKeys = (count: number) => `{${Array.from({ length: count }, (_, each) => `"k${each}":0`).join(',')}}`

describe('request body', () => {
  it.each([
    ['not json', '{"type":'],
    ['nothing', ''],
    ['a byte-order mark', '\ufeff{"type":"abort"}'],
    ['not an object', '[1]'],
    ['nested too deep', `{"type":"sendPrompt","content":${'['.repeat(200)}${']'.repeat(200)}}`],
    ['nested far too deep', '['.repeat(100_000)],
    ['an unknown field', '{"type":"abort","force":true}'],
    ['an unknown command', '{"type":"constructor"}'],
    ['an invalid command id', '{"type":"abort","commandId":"a b"}'],
    ['an infinite number', '{"type":"respondToApproval","decision":"approve","approval":1e400}'],
    ['an unpaired surrogate', prompt('"\\ud800"')],
    ['an unpaired low surrogate', prompt('"\\uDE00"')],
    ['two high surrogates', prompt('"\\ud83d\\ud83d\\ude00"')],
    ['surrogates with a letter between', prompt('"\\ud83dx\\ude00"')],
    ['a key with an unpaired surrogate', '{"type":"abort","\\ud800":1}'],
  ])('is refused with 400 when it is %s', async (_, body) => {
    await using test = await openTestServer()
    const response = await test.post(path, body)
    expect(response.status).toBe(400)
    expect(await codeOf(response)).toBe('bad_request')
    expect(test.fake.touched).toEqual([])
  })

  it('nests as deep as the limit and no deeper', async () => {
    const nested = (depth: number) => parseJson(Buffer.from('['.repeat(depth) + ']'.repeat(depth)))
    expect((await nested(limits.jsonDepthMax)).ok).toBe(true)
    expect(await nested(limits.jsonDepthMax + 1)).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
  })

  it.each([
    ['many keys', manyKeys(200_000), 'jsonKeysMax'],
    ['many keys and a surrogate pair', `{"y":"\\ud83d\\ude00",${manyKeys(200_000).slice(1)}`, 'jsonKeysMax'],
    ['many numbers', `[${'0,'.repeat(2_000_000)}0]`, 'jsonValuesMax'],
    ['many objects', `{"y":"\\ud83d\\ude00","x":[${'{},'.repeat(1_000_000)}0]}`, 'jsonValuesMax'],
    ['many parts', prompt(`[${'{"type":"x"},'.repeat(300_000)}0]`), 'jsonValuesMax'],
  ])('is refused with 413 before it is parsed when it has %s', async (_, body, limit) => {
    await using test = await openTestServer()
    for (const to of [path, '/v1/sessions']) {
      const response = await test.post(to, body)
      expect([response.status, await response.json()]).toMatchObject([
        413,
        { error: { code: 'too_large', details: { limit } } },
      ])
    }
    expect(test.fake.touched).toEqual([])
  })

  it('with many unknown or long keys gets a short answer', async () => {
    await using test = await openTestServer()
    const fields = manyKeys(limits.jsonKeysMax - 2).slice(1)
    const long = `{"type":"abort","${'k'.repeat(1_000_000)}":1}`
    for (const [to, body] of [
      [path, `{"type":"abort",${fields}`],
      ['/v1/sessions', `{"workdir":"/tmp",${fields}`],
      [path, long],
      ['/v1/sessions', long],
    ] as const) {
      const response = await test.post(to, body)
      expect(response.status).toBe(400)
      expect((await response.text()).length).toBeLessThan(3000)
    }
  })

  it('is scanned, parsed and validated in separate slices when it is large', async () => {
    const slicesOf = async (bytes: number) => {
      let slices = 0
      const slice = async () => void slices++
      expect(await parseJson(Buffer.from(JSON.stringify('x'.repeat(bytes))), slice)).toMatchObject({ ok: true })
      return slices
    }
    expect(await slicesOf(1000)).toBe(0)
    expect(await slicesOf(100_000)).toBe(2)
    expect(await slicesOf(2 * scanSliceBytes)).toBe(4)
    expect(await slicesOf(4 * scanSliceBytes - 10)).toBe(5)
  })

  it('cannot change a prototype', async () => {
    await using test = await openTestServer()
    const forged = '"__proto__":{"forged":true},"constructor":{"prototype":{"forged":true}}'
    expect((await test.post('/v1/sessions', `{"workdir":"/tmp/w",${forged}}`)).status).toBe(400)
    await test.post(path, '{"type":"abort","__proto__":{"type":"sendPrompt","forged":true}}')
    expect(test.fake.touched.at(-1)).toMatchObject({ submit: { type: 'abort' } })
    expect(Reflect.has({}, 'forged')).toBe(false)
  })

  it('is refused with 400 when it is not UTF-8', async () => {
    await using test = await openTestServer()
    const headers = { authorization: `Bearer ${test.tokens.driver}`, 'content-type': 'application/json' }
    const body = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])
    expect((await test.call(path, { method: 'POST', headers, body })).status).toBe(400)
  })

  it('may contain a surrogate pair written as two escapes', async () => {
    await using test = await openTestServer()
    for (const pair of ['\\ud83d\\ude00', '\\uD83D\\uDE00', '\\\\ud800'])
      expect((await test.post(path, prompt(`"${pair}"`))).status).toBe(202)
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
    'is refused with 415 as %j, which any web page could send',
    async (type) => {
      await using test = await openTestServer()
      const response = await test.post(path, '{"type":"abort"}', { 'content-type': type })
      expect(response.status).toBe(415)
      expect(await codeOf(response)).toBe('wrong_media_type')
    },
  )

  it('is refused with 413 by its Content-Length, before it is sent', async () => {
    await using test = await openTestServer()
    const answer = await test.raw(head(test, `Content-Length: ${limits.requestBodyBytesMax + 1}\r\nConnection: close`))
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
    expect(answer).toContain('"code":"too_large"')
  })

  it('is refused with 413 as soon as a chunked body is too long', async () => {
    await using test = await openTestServer()
    const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`
    const endless = chunk.repeat(Math.ceil(limits.requestBodyBytesMax / 65_536) + 1) // without a last chunk
    const answer = await test.raw(`${head(test, 'Transfer-Encoding: chunked\r\nConnection: close')}${endless}`)
    expect(answer).toMatch(/^HTTP\/1.1 413 /)
    expect(test.fake.touched).toEqual([])
  })

  it('ends at its Content-Length', async () => {
    await using test = await openTestServer()
    const answer = await test.raw(`${head(test, 'Content-Length: 16')}{"type":"abort"}{"type":"abort"}`)
    expect(answer).toMatch(/^HTTP\/1.1 202 /)
    expect(test.fake.records).toHaveLength(1)
  })
})

const head = ({ server, tokens }: Awaited<ReturnType<typeof openTestServer>>, more: string) =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${tokens.driver}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`

let base = ''
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'hf-body-'))
})
afterEach(() => rm(base, { recursive: true, force: true }))

const mebibyte = new Uint8Array(1024 * 1024)

/** Returns a request with a streamed body, without a length. */
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

async function spool(request: Request, path = join(base, 'spooled')): Promise<Result<null>> {
  await using file = await open(path, 'w')
  return await spoolBody(request, file)
}

describe('spoolBody', () => {
  it('writes the body unchanged', async () => {
    expect(await spool(brief())).toEqual({ ok: true, value: null })
    expect(await readFile(join(base, 'spooled'), 'utf8')).toBe('hello')
  })

  it('refuses a body that is too large, with advice', async () => {
    const refused = await spool(requestOf((controller) => controller.enqueue(mebibyte)))
    expect(refused).toMatchObject({
      ok: false,
      fault: { code: 'too_large', message: expect.stringContaining('holdfast import') },
    })
    const named = new Request('http://localhost/', {
      method: 'POST',
      headers: { 'content-length': String(limits.importBytesMax + 1) },
      body: 'short',
    })
    expect(await spool(named)).toMatchObject({ ok: false, fault: { code: 'too_large' } })
  })

  it('reports a broken upload as bad_request', async () => {
    const broken = requestOf((controller) => controller.error(new Error('the client hung up')))
    expect(await spool(broken)).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
  })

  it.runIf(existsSync('/dev/full'))('reports a full disk as storage_error', async () => {
    expect(await spool(brief(), '/dev/full')).toMatchObject({
      ok: false,
      fault: { code: 'storage_error', details: { reason: 'disk_full', errno: 'ENOSPC' } },
    })
  })
})
