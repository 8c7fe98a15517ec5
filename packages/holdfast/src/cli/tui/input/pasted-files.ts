import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fault, limits, ok, type Result, refuse, type Sessions } from '@holdfast/protocol'

type StoredPart = Extract<Awaited<ReturnType<Sessions['storeFile']>>, { readonly ok: true }>['value']['file']

const imageName = /\.(?:png|jpe?g|gif|webp|pdf)$/i

/** Returns the path of an image that a person dropped on the terminal, which pastes its path; null for any other text. */
export function findDroppedFile(pasted: string): string | null {
  const text = pasted.trim()
  if (text.includes('\n') || text.length > limits.toolPathCharsMax || !imageName.test(text.replace(/['"]$/, '')))
    return null
  const bare = /^(['"])(.*)\1$/.exec(text)?.[2] ?? text.replace(/\\(.)/g, '$1') // as shells quote
  if (bare.startsWith('file://')) return URL.canParse(bare) ? fileURLToPath(bare) : null
  return bare.startsWith('/') || bare.startsWith('~/') ? bare : null
}

/** Stores a file for a prompt. */
export async function storeFile(sessions: Sessions, path: string): Promise<Result<StoredPart>> {
  const found = await stat(path).catch(() => null)
  if (!found?.isFile()) return refuse(fault('not_found', `There is no file ${path}.`))
  if (found.size > limits.blobBytesMax) return refuse(fault('too_large', `${path} is too large.`))
  const stored = await sessions.storeFile(await readFile(path), { name: basename(path).slice(0, 255) })
  return stored.ok ? ok(stored.value.file) : stored
}

/** The programs that print the image of the clipboard, by system. */
const readers: readonly (readonly [string, readonly string[]])[] = [
  ['wl-paste', ['--type', 'image/png']],
  ['xclip', ['-selection', 'clipboard', '-t', 'image/png', '-o']],
  ['pngpaste', ['-']],
]

/** Stores the image of the clipboard. Refused: not_found, if there is none or no program can read it. */
export async function storeClipboardImage(sessions: Sessions): Promise<Result<StoredPart>> {
  for (const [program, args] of readers) {
    const bytes = await readProgram(program, args)
    if (bytes === null) continue
    const stored = await sessions.storeFile(bytes, { name: 'clipboard.png' })
    return stored.ok ? ok(stored.value.file) : stored
  }
  return refuse(
    fault('not_found', 'There is no image in the clipboard, or none of wl-paste, xclip and pngpaste can read it.'),
  )
}

const readProgram = (program: string, args: readonly string[]): Promise<Uint8Array | null> =>
  new Promise((resolve) => {
    execFile(program, [...args], { encoding: 'buffer', maxBuffer: limits.blobBytesMax, timeout: 3000 }, (error, out) =>
      resolve(error || out.length === 0 ? null : new Uint8Array(out)),
    )
  })
