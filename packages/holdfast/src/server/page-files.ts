import { readFile, realpath } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

/**
 * The frame of the page that draws diagrams. It measures text with inline styles, reaches nothing outside, and only the page
 * may frame it.
 */
const framedHeaders = {
  'content-security-policy': [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "base-uri 'none'"],
    ...["form-action 'none'", "frame-ancestors 'self'"],
  ].join('; '),
  'x-frame-options': 'SAMEORIGIN',
}

/** Allows plain names only: no dot files, no `..`, nothing encoded. */
const plainPath = /^(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$/

const notBuilt = 'Holdfast is running, but its page is not built. Run `npm run build --workspace @holdfast/web`.\n'

/**
 * Returns a file of the built page, or null. A path without a file name is the page, such as `/shared`. The page asks for
 * its files beside itself, so a deeper path is led to a route of the page, which is in the hash.
 */
export async function answerPageFile(pageDir: string | null, path: string): Promise<Response | null> {
  const isPage = path === '/' || (plainPath.test(path) && extname(path) === '')
  if (isPage && path.lastIndexOf('/') > 0)
    return new Response(null, { status: 302, headers: { location: `/#${path}`, 'cache-control': 'no-store' } })
  const file = isPage ? '/index.html' : path
  const found = pageDir === null ? null : await readPageFile(pageDir, file)
  if (found) {
    // Vite puts a content hash into the names below assets/, so those files never change.
    const caching = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    const type = mediaTypes[extname(file)] ?? 'application/octet-stream'
    const framed = path === '/diagram.html' ? framedHeaders : {}
    return new Response(found, { headers: { ...framed, 'content-type': type, 'cache-control': caching } })
  }
  if (path !== '/') return null
  return new Response(notBuilt, {
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
  })
}

async function readPageFile(pageDir: string, path: string): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!plainPath.test(path)) return null
  try {
    const [root, file] = await Promise.all([realpath(pageDir), realpath(join(pageDir, path))])
    if (!file.startsWith(root + sep)) return null // a link out of the folder
    return new Uint8Array(await readFile(file))
  } catch {
    return null
  }
}
