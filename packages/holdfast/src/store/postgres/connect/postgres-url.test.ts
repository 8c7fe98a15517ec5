import { orThrow } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { parseStoreUrl } from '../../open/store-location.ts'
import { openPostgresStore } from '../postgres-store.ts'
import { parsePostgresUrl } from './postgres-url.ts'

const secret = 's3cret%21word'

describe('postgres url', () => {
  it('is shown without its password', () => {
    const urls = [
      [`postgres://me:${secret}@db.example:5433/app`, 'postgres://me@db.example:5433/app'],
      [`postgresql://me:${secret}@db/app?sslmode=require`, 'postgres://me@db/app?sslmode=require'],
      [`postgres://db/app?user=me&password=${secret}`, 'postgres://db/app?user=me'],
      [`postgres:///app?host=/run/pg&schema=own`, 'postgres:///app?host=/run/pg&schema=own'],
    ] as const
    for (const [given, shown] of urls) expect(orThrow(parsePostgresUrl(given)).url).toBe(shown)
  })

  it.each([
    'postgres://me:s3cret/word@db/app',
    'postgres://me:123/word@db/app',
    'postgres://me:s3cret?word@db/app',
    'postgres://me:123?word@db/app',
    'Postgres://me:s3cret@db/app',
    'postgress://me:s3cret@db/app',
    'mysql://me:s3cret@db/app?password=word',
    'postgres//me:s3cret@db/app',
    ' postgres://me:s3cret@db/app',
    '"postgres://me:s3cret@db/app"',
  ])('that is misspelt is refused without its password: %s', (url) => {
    const parsed = parseStoreUrl(url, { storePath: '/home/store', blobsDir: '/home/blobs' })
    expect(parsed).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
    expect(JSON.stringify(parsed)).not.toMatch(/s3cret|word@|=word|123/)
  })

  it('gives the driver everything but its own parameters', () => {
    const location = orThrow(
      parsePostgresUrl(`postgres://me:${secret}@db/app?schema=own&sslmode=require&durability=unchecked`),
    )
    expect(location).toMatchObject({
      schema: 'own',
      mayLoseData: true,
      connection: `postgres://me:${secret}@db/app?sslmode=require`,
    })
    expect(orThrow(parsePostgresUrl('postgres://db/app'))).toMatchObject({ schema: 'holdfast', mayLoseData: false })
  })

  it('says where to listen: in the same database, past a pooler, or not at all', () => {
    const listenOf = (query: string) => orThrow(parsePostgresUrl(`postgres://me:${secret}@pool/app${query}`)).listen
    expect(listenOf('')).toBe(`postgres://me:${secret}@pool/app`)
    expect(listenOf('?listen=off')).toBeNull()
    const direct = `postgres://me:${secret}@db:5432/app`
    expect(listenOf(`?listen=${encodeURIComponent(`${direct}?schema=own`)}`)).toBe(direct)
    const { url, connection } = orThrow(parsePostgresUrl(`postgres://pool/app?listen=${encodeURIComponent(direct)}`))
    expect([url, connection]).toEqual(['postgres://pool/app', 'postgres://pool/app'])
  })

  it.each([
    `postgres://me:${secret}@a@b/app`,
    `postgres:me:${secret}`,
    `postgres://me:${secret}@db/app?schema=a"b`,
    `postgres://me:${secret}@db/app?durability=none`,
    `postgres://db/app?listen=${secret}`,
  ])('is refused without its password: %s', (url) => {
    const parsed = parsePostgresUrl(url)
    expect(parsed).toMatchObject({ ok: false, fault: { code: 'bad_request' } })
    expect(JSON.stringify(parsed)).not.toContain('s3cret')
  })

  it('never shows its password in a failure', async () => {
    const location = orThrow(parsePostgresUrl(`postgres://me:${secret}@127.0.0.1:1/app`))
    const opened = await openPostgresStore(location)
    expect(opened).toMatchObject({ ok: false, fault: { code: 'storage_error', details: { reason: 'unreachable' } } })
    expect(JSON.stringify(opened)).not.toContain('s3cret')
    expect(JSON.stringify(opened)).toContain('postgres://me@127.0.0.1:1/app')
  })
})
