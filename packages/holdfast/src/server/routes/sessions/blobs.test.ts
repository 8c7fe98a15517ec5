import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectSessions, createSession, type Session } from '@holdfast/client'
import { type Content, limits, orThrow, StoredFile } from '@holdfast/protocol'
import { aGif, aJpeg, anAlphaWebp, aPdf, aPng, aWebp } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Holdfast } from '../../../holdfast.ts'
import { openHoldfast } from '../../../open.ts'
import { openTestServer } from '../../testing/test-server.ts'

type Test = Awaited<ReturnType<typeof openTestServer>>
let home = ''
let holdfast: Holdfast
let test: Test

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'holdfast-files-'))
  holdfast = await openHoldfast({ environment: { HOLDFAST_HOME: home, DEMO_PACE: '0' } })
  test = await openTestServer({ sessions: holdfast.handles })
})
afterEach(async () => {
  await test[Symbol.asyncDispose]()
  await holdfast.close()
  await rm(home, { recursive: true, force: true })
})

const send = (body: Uint8Array, query = '?name=a.png', token = test.tokens.driver) =>
  test.call(`/v1/blobs${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'image/x-whatever' },
    body: new Uint8Array(body),
  })
const stored = async (body: Uint8Array, query?: string) => StoredFile.parse(await (await send(body, query)).json())
const errorOf = async (response: Response) => {
  const body: { error: { code: string; message: string } } = JSON.parse(await response.text())
  return { status: response.status, ...body.error }
}

describe('POST /v1/blobs', () => {
  it.each([
    ['image/png', aPng()],
    ['image/jpeg', aJpeg],
    ['image/gif', aGif],
    ['image/webp', aWebp],
    ['image/webp', anAlphaWebp],
    ['application/pdf', aPdf],
    ['text/plain', Buffer.from('# Grüße\n')],
  ])('stores a file and returns its detected type (%s)', async (mediaType, bytes) => {
    const response = await send(bytes)
    expect(response.status).toBe(201)
    const { file, ...rest } = StoredFile.parse(await response.json())
    expect(file).toMatchObject({ type: 'file', mediaType, name: 'a.png', bytes: bytes.length })
    expect(rest).toEqual({})
  })

  it.each([
    ['nothing', new Uint8Array(), 400, 'bad_request', 'The file a.png is empty.'],
    [
      'an archive',
      Buffer.from('PK\x03\x04\0'),
      415,
      'wrong_media_type',
      'The file a.png has a type that no model accepts. PNG, JPEG, GIF and WebP images, PDF files and UTF-8 text can be sent.',
    ],
    [
      'half an image',
      aPng(500, 500).subarray(0, 200),
      415,
      'wrong_media_type',
      'The file a.png starts like image/png but is damaged or incomplete.',
    ],
    [
      'a picture that would fill the memory',
      Buffer.from(aPng()).fill(0x7f, 16, 24),
      413,
      'too_large',
      'The image a.png is 2139062143x2139062143; the limit is 100 megapixels.',
    ],
  ])('refuses %s', async (_, bytes, status, code, message) => {
    expect(await errorOf(await send(bytes))).toMatchObject({ status, code, message })
    expect(await readdir(join(home, 'data/blobs'))).toEqual([])
  })

  it('refuses a file above the limit before reading it', async () => {
    const lines = [`Host: 127.0.0.1:${test.server.port}`, `Authorization: Bearer ${test.tokens.driver}`]
    const head = [
      'POST /v1/blobs HTTP/1.1',
      ...lines,
      `Content-Length: ${limits.blobBytesMax + 1}`,
      'Connection: close',
    ]
    expect(await test.raw(`${head.join('\r\n')}\r\n\r\n`)).toMatch(/^HTTP\/1.1 413 [\s\S]*too_large/)
  })

  it('shrinks a large image and says so', async () => {
    const { file, changed } = await stored(aPng(6000, 4000))
    expect(changed).toBe('downscaled from 6000x4000 to 1568x1045')
    expect(file.mediaType).toBe('image/png')
  })

  it('refuses viewers, callers without a token, and unknown parameters', async () => {
    expect(await errorOf(await send(aPng(), '', test.tokens.viewer))).toMatchObject({ code: 'not_driver' })
    expect(await errorOf(await send(aPng(), '', 'x'))).toMatchObject({ code: 'unauthorized' })
    expect(await errorOf(await send(aPng(), '?colour=red'))).toMatchObject({ code: 'bad_request' })
    expect(await errorOf(await send(aPng(), '?persist=maybe'))).toMatchObject({ code: 'bad_request' })
    expect((await test.call('/v1/blobs')).status).toBe(405)
  })

  it('is in the OpenAPI document', async () => {
    const api: { paths: { [path: string]: { post: { requestBody: unknown } } } } = JSON.parse(
      await (await test.call('/v1/openapi.json')).text(),
    )
    expect(api.paths['/v1/blobs']?.post.requestBody).toMatchObject({
      content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    })
  })
})

describe('a file in a session', () => {
  /** Sends a prompt and waits for the end of its turn. */
  async function ask(session: Session, content: Content | string): Promise<void> {
    for await (const frame of session.subscribe()) {
      if (frame.type === 'snapshot') await session.sendPrompt(content)
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return
    }
  }
  const remote = () => connectSessions({ url: test.server.url, token: test.tokens.driver })
  const answers = async (session: Session) =>
    (await session.messages()).filter(({ kind }) => kind === 'assistant').length

  it('is sent once to a client that keeps it: its hash is its ETag, and its bytes never change', async () => {
    const { file } = await stored(aPng())
    const session = await createSession(orThrow(await remote().start({ model: 'demo/agent' })))
    await ask(session, [{ type: 'text', text: 'look' }, file])
    const get = (path: string, headers: Record<string, string> = {}) =>
      test.call(path, { headers: { authorization: `Bearer ${test.tokens.driver}`, ...headers } })
    const path = `/v1/sessions/${session.id}/blobs/${file.blob}`
    const first = await get(path)
    const etag = first.headers.get('etag') ?? ''
    expect([first.status, etag]).toEqual([200, `"${file.blob}"`])
    expect(first.headers.get('cache-control')).toBe('private, max-age=31536000, immutable')
    expect(first.headers.get('vary')).toContain('Authorization')
    for (const known of [etag, `"other", W/${etag}`, '*']) {
      const again = await get(path, { 'if-none-match': known })
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    }
    const changed = await get(path, { 'if-none-match': '"other"' })
    expect([changed.status, (await changed.arrayBuffer()).byteLength]).toEqual([200, file.bytes])
    const other = await createSession(orThrow(await remote().start({ model: 'demo/agent' })))
    const foreign = await get(`/v1/sessions/${other.id}/blobs/${file.blob}`, { 'if-none-match': etag })
    expect((await errorOf(foreign)).code).toBe('blob_not_found')
  })

  it('that is damaged is refused, and one damaged later does no harm', async () => {
    const sessions = remote()
    const session = createSession(orThrow(await sessions.start({ workdir: home, model: 'demo/agent' })))
    const { file } = orThrow(await sessions.storeFile(aPng(), { name: 'a.png' }))

    await expect(session.sendPrompt([{ ...file, mediaType: 'image/webp' }])).rejects.toMatchObject({
      code: 'wrong_media_type',
      details: { mediaType: 'image/png' },
    })
    expect(await session.messages()).toEqual([])

    await ask(session, [{ type: 'text', text: 'hello' }, file])
    const path = join(home, 'data/blobs', file.blob.slice(0, 2), file.blob.slice(2))
    await writeFile(path, 'no image any more')
    await ask(session, 'hello')
    await expect(session.sendPrompt([file])).rejects.toMatchObject({ code: 'blob_not_found' })
    await rm(path)
    await ask(session, 'hello')
    expect(await answers(session)).toBeGreaterThanOrEqual(3)

    await writeFile(path, 'damaged again')
    expect(orThrow(await sessions.storeFile(aPng(), { name: 'a.png' })).file).toEqual(file)
    await ask(session, [file])
    expect((await session.messages()).map(({ kind }) => kind)).not.toContain('system')
  })

  it('can be stored for one prompt only', async () => {
    const session = await holdfast.startSession({ workdir: home, model: 'demo/agent', persist: false })
    const { file: kept } = await holdfast.storeFile(aPng())
    await expect(session.sendPrompt([kept])).rejects.toThrow('Store it with `persist: false`')
    await expect(holdfast.storeFile(new Uint8Array())).rejects.toMatchObject({ code: 'bad_request' })
    const { file } = orThrow(await remote().storeFile(aPng(5, 5), { persist: false }))
    await ask(session, [file])
    expect(await answers(session)).toBe(1)
  })
})
