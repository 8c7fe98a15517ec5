import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTestServer } from './testing/test-server.ts'

async function buildPage() {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-page-'))
  const pageDir = join(root, 'dist')
  await mkdir(join(pageDir, 'assets'), { recursive: true })
  await writeFile(join(root, 'secret.txt'), 'canary')
  await writeFile(join(pageDir, 'index.html'), '<!doctype html>')
  await writeFile(join(pageDir, 'diagram.html'), '<!doctype html>')
  await writeFile(join(pageDir, '.env'), 'canary')
  await writeFile(join(pageDir, 'assets', 'index-abc123.js'), 'export {}')
  await writeFile(join(pageDir, 'assets', 'index-abc123.css'), 'body {}')
  await symlink(join(root, 'secret.txt'), join(pageDir, 'link.txt'))
  return { pageDir, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) }
}

describe('the page', () => {
  it('is served without a token, with media types and a strict content policy', async () => {
    await using built = await buildPage()
    await using test = await openTestServer({ pageDir: built.pageDir })
    const page = await fetch(`${test.server.url}/?gatewayUrl=https://evil.example`)
    expect([page.status, await page.text()]).toEqual([200, '<!doctype html>'])
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('cache-control')).toBe('no-cache')
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    )
    const frame = await fetch(`${test.server.url}/diagram.html`)
    expect([frame.headers.get('content-security-policy'), frame.headers.get('x-frame-options')]).toEqual([
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
      'SAMEORIGIN',
    ])
    const script = await fetch(`${test.server.url}/assets/index-abc123.js`)
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const style = await fetch(`${test.server.url}/assets/index-abc123.css`)
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')
    expect((await fetch(`${test.server.url}/shared`)).headers.get('content-type')).toContain('text/html')
    const named = await fetch(`${test.server.url}/s/calm-harbor-12`, { redirect: 'manual' })
    expect([named.status, named.headers.get('location')]).toEqual([302, '/#/s/calm-harbor-12'])
    expect((await fetch(`${test.server.url}/assets/gone.js`)).status).toBe(404)
    expect((await fetch(`${test.server.url}/`, { method: 'POST' })).status).toBe(404)
  })

  it.each([
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/.env',
    '/link.txt',
  ])('is the only thing served: %s is not', async (path) => {
    await using built = await buildPage()
    await using test = await openTestServer({ pageDir: built.pageDir })
    const answer = await test.raw(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${test.server.port}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1.1 4/)
    expect(answer).not.toContain('canary')
  })

  it('explains that it is not built', async () => {
    for (const pageDir of [null, '/nowhere/at/all']) {
      await using test = await openTestServer({ pageDir })
      const response = await fetch(`${test.server.url}/`)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
      expect(await response.text()).toContain('not built')
    }
  })
})
