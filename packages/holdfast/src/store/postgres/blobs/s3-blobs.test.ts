import type { Blobs, Store } from '@holdfast/core/ports'
import { BlobHash, fault, HoldfastError, orThrow } from '@holdfast/protocol'
import { blobTestBytesMax, describeBlobs } from '@holdfast/testkit/contracts'
import { type FakeS3, startFakeS3 } from '@holdfast/testkit/postgres'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openEmpty, useServer } from '../testing/test-schema.ts'
import { openPostgresBlobReader } from './blob-reader.ts'
import { createPlaceProbe } from './place-probe.ts'
import { createS3Objects } from './s3-objects.ts'
import { objectUrl, parseS3Url, s3Url } from './s3-url.ts'
import { signRequest } from './sign-request.ts'

const server = useServer()
let s3: FakeS3
beforeAll(async () => {
  s3 = await startFakeS3()
})
afterAll(() => s3.close())

let opened: Store | null = null
afterEach(async () => {
  await opened?.close()
  opened = null
  expect(s3.refused.splice(0)).toEqual([])
})

const placeUrl = () => `s3://files/team/blobs?endpoint=${encodeURIComponent(s3.endpoint)}&region=here-1`

async function open(bytesMax = blobTestBytesMax) {
  await opened?.close()
  s3.objects.clear()
  const blobs = { place: orThrow(parseS3Url(placeUrl())), objects: createS3Objects(s3.environment) }
  const found = await openEmpty(server(), { blobBytesMax: bytesMax, blobs })
  opened = found.store
  return found
}

const textOf = async (blobs: Blobs, hash: BlobHash) => {
  const chunks: Uint8Array[] = []
  for await (const chunk of (await blobs.open(hash)) ?? []) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describeBlobs('S3', async () => (await open()).blobs)

describe('blobs in S3', () => {
  it('are in objects, large ones in several, and none stay when they are removed', async () => {
    const { blobs } = await open(40_000_000)
    const large = Buffer.alloc(17_000_000, 'abc')
    const { hash } = orThrow(await blobs.put([large]))
    expect([...s3.objects.values()].map((one) => one.byteLength)).toEqual([8_388_608, 8_388_608, 222_784])
    expect([...s3.objects.keys()].every((key) => /^team\/blobs\/[0-9a-f-]{36}\/\d$/.test(key))).toBe(true)
    expect((await textOf(blobs, hash)).equals(large)).toBe(true)
    await blobs.put([large])
    expect(s3.objects.size).toBe(3)
    const none = async () => new Set<BlobHash>()
    await blobs.sweep(none, { now: Date.now() + 10_000, graceMs: 1000 })
    await blobs.sweep(none, { now: Date.now() + 20_000, graceMs: 1000 })
    expect(s3.objects.size).toBe(0)
  })

  it('of an upload that was cut off are removed by a sweep', async () => {
    const { blobs } = await open(40_000_000)
    function* broken() {
      yield Buffer.alloc(9_000_000)
      throw new Error('the client hung up')
    }
    await expect(blobs.put(broken())).rejects.toThrow('the client hung up')
    expect(s3.objects.size).toBe(1)
    await blobs.sweep(async () => new Set(), { now: Date.now() + 10_000, graceMs: 1000 })
    expect(s3.objects.size).toBe(0)
  })

  it('and blobs of the database can be read whatever the place for new ones is', async () => {
    const { blobs, location } = await open()
    const elsewhere = orThrow(await blobs.put([Buffer.from('elsewhere')])).hash
    await opened?.close()
    const { openPostgresStore } = await import('../postgres-store.ts')
    const plain = orThrow(await openPostgresStore(location, { blobs: { objects: createS3Objects(s3.environment) } }))
    opened = plain.store
    const here = orThrow(await plain.blobs.put([Buffer.from('here')])).hash
    expect(s3.objects.size).toBe(1)
    expect([String(await textOf(plain.blobs, elsewhere)), String(await textOf(plain.blobs, here))]).toEqual([
      ...['elsewhere', 'here'],
    ])
    await using reader = await openPostgresBlobReader(location)
    expect(await reader.isWhole(here)).toBe(true)
  })

  it('wait for a server that is busy, and refuse cleanly if it fails or the keys are missing or wrong', async () => {
    const { blobs, location } = await open()
    s3.failNext(503, 500)
    expect((await blobs.put([Buffer.from('twice')])).ok).toBe(true)
    s3.failNext(403)
    expect(await blobs.put([Buffer.from('no')])).toMatchObject({
      ok: false,
      fault: { code: 'storage_error', message: expect.stringContaining('it answered 403') },
    })
    const { openPostgresStore } = await import('../postgres-store.ts')
    const place = orThrow(parseS3Url(placeUrl()))
    for (const environment of [{}, { ...s3.environment, AWS_SECRET_ACCESS_KEY: 'wrong' }]) {
      const other = orThrow(
        await openPostgresStore(location, { blobs: { place, objects: createS3Objects(environment) } }),
      )
      expect(await other.blobs.put([Buffer.from('no')])).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
      await other.store.close()
    }
    expect(s3.refused.splice(0)).toEqual([expect.stringContaining('a wrong signature')])
    expect(await blobs.has(BlobHash.parse('0'.repeat(64)))).toBe(false)
  })
})

describe('a place in S3', () => {
  it('is a bucket with a prefix, at Amazon or at a server of its own', () => {
    const at = (text: string, key = 'k') => objectUrl(orThrow(parseS3Url(text)), key).href
    expect(at('s3://files')).toBe('https://files.s3.us-east-1.amazonaws.com/k')
    expect(at('s3://files/a/b/?region=eu-west-3')).toBe('https://files.s3.eu-west-3.amazonaws.com/a/b/k')
    expect(at('s3://files/a?endpoint=http://10.0.0.9:9000/')).toBe('http://10.0.0.9:9000/files/a/k')
    const place = orThrow(parseS3Url('s3://files/a?endpoint=http://10.0.0.9:9000&region=x'))
    expect(parseS3Url(s3Url(place))).toEqual({ ok: true, value: place })
  })

  it.each([
    ...['https://files', 's3://', 's3://a', 's3://user@files', 's3://files?endpoint=ftp://x', 's3://files?other=1'],
    ...['s3://files?endpoint=none', 's3://files/a b', 's3://files?region=A/b'],
  ])('is refused if it is %s', (text) => {
    expect(parseS3Url(text)).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
  })

  it('gets the signatures that the description of AWS gives as examples', () => {
    const credentials = { keyId: 'AKIAIOSFODNN7EXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
    const when = { region: 'us-east-1', nowMs: Date.UTC(2013, 4, 24) }
    const sign = (path: string, headers = {}) => {
      const url = new URL(path, 'https://examplebucket.s3.amazonaws.com')
      return signRequest({ method: 'GET', url, headers, body: new Uint8Array() }, credentials, when)['authorization']
    }
    expect(sign('/test.txt', { range: 'bytes=0-9' })).toContain(
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    )
    expect(sign('/?lifecycle')).toContain('fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543')
  })

  it('is asked whether it takes objects with one small write', async () => {
    const { blobs } = await open()
    expect(await blobs.probe?.()).toMatchObject({ ok: true })
    expect([...s3.objects.keys()]).toEqual(['team/blobs/holdfast-ready'])
    s3.objects.set('team/blobs/holdfast-ready', Buffer.from('as another node wrote it'))
    const place = orThrow(parseS3Url(placeUrl()))
    await createS3Objects(s3.environment).probe(place)
    expect(String(s3.objects.get('team/blobs/holdfast-ready'))).toMatch(/^Holdfast writes this object/)
    s3.failNext(503)
    await createS3Objects(s3.environment).probe(place)
    await opened?.close()
    const inDatabase = await openEmpty(server())
    opened = inDatabase.store
    expect(inDatabase.blobs.probe).toBeUndefined()
  })

  it.each([
    ['refuses the keys', 'it answered 403', { AWS_SECRET_ACCESS_KEY: 'wrong' }, {}],
    ['has no such bucket', 'it answered 404', {}, { bucket: 'other' }],
    ['cannot be reached', 'fetch failed', {}, { endpoint: new URL('http://127.0.0.1:9') }],
  ])('that %s says so', async (_, message, keys, changed) => {
    const place = { ...orThrow(parseS3Url(placeUrl())), ...changed }
    const objects = createS3Objects({ ...s3.environment, ...keys })
    await expect(objects.probe(place)).rejects.toMatchObject({
      code: 'storage_error',
      message: expect.stringContaining(message),
    })
    s3.refused.splice(0)
  })

  it('is asked once in ten seconds while it answers, and each time while it does not, which is reported once', async () => {
    const [answers, problems]: [boolean[], unknown[]] = [[], []]
    let [isThere, nowMs] = [true, 0]
    const probe = createPlaceProbe(
      {
        async probe() {
          answers.push(isThere)
          if (!isThere) throw new HoldfastError(fault('storage_error', 'away'))
        },
      },
      orThrow(parseS3Url(placeUrl())),
      { now: () => nowMs, onProblem: (problem) => problems.push(problem) },
    )
    for (nowMs of [0, 1000, 9999]) expect((await probe()).ok).toBe(true)
    isThere = false
    for (nowMs of [10_000, 11_000]) expect((await probe()).ok).toBe(false)
    expect([answers, problems]).toMatchObject([[true, false, false], [{ cause: { message: 'away' } }]])
    isThere = true
    for (nowMs of [12_000, 13_000]) expect((await probe()).ok).toBe(true)
    isThere = false
    nowMs = 30_000
    await probe()
    expect(problems).toHaveLength(2)
  })

  it('is refused at the start without keys', async () => {
    const { openDatabaseStore } = await import('../../open/open-blobs.ts')
    const { location } = await open()
    expect(await openDatabaseStore(location, { environment: {}, blobs: placeUrl() })).toMatchObject({
      ok: false,
      fault: { code: 'storage_error', message: expect.stringContaining('set AWS_ACCESS_KEY_ID') },
    })
    const { store } = orThrow(await openDatabaseStore(location, { environment: s3.environment, blobs: placeUrl() }))
    await store.close()
  })
})
