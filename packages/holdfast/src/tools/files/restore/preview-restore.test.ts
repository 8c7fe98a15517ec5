import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileState } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { notAborted, openWorkdir } from '../../../../../testkit/src/contracts/tool.ts'
import { hashBytes } from '../io/before-image.ts'
import { previewRestore } from './preview-restore.ts'

const old = Buffer.from('one\ntwo\nthree\n')
const file: FileState = { type: 'file', hash: hashBytes(old), mode: 0o644 }

async function openFolder() {
  const { workdir, beside } = await openWorkdir()
  const preview = async (expected: FileState, target: FileState) => {
    const wanted = { path: 'a', expected, target }
    const place = { workdir, boundaries: [], ownPaths: [] }
    const shown = await previewRestore(place, wanted, { read: async () => old, signal: notAborted })
    return shown.type === 'restored' ? shown.diff : shown
  }
  const write = (path: string, text: string) => writeFile(join(workdir, path), text)
  const link = (target: string) => symlink(target, join(workdir, 'a'))
  return { workdir, beside, preview, write, link }
}

describe('the preview of a restore', () => {
  it('compares a file that became a link with the content that the link leads to', async () => {
    const { preview, write, link } = await openFolder()
    await write('b', 'one\n2\nthree\n')
    await link('b')
    const diff = await preview({ type: 'link', target: 'b' }, file)
    expect(diff).toMatch(/^removes the link a -> b\nputs a file at a\n/)
    expect(diff).toContain('\n-2\n+two\n three\n')
    expect(diff).not.toContain('+one')
  })

  it('shows no lines if only the kind of the entry changes', async () => {
    const { preview, write, link } = await openFolder()
    await write('b', old.toString())
    await link('b')
    expect(await preview({ type: 'link', target: 'b' }, file)).toBe('removes the link a -> b\nputs a file at a\n')
  })

  it('compares a link that became a file in the same way', async () => {
    const { preview, write } = await openFolder()
    await write('a', old.toString())
    await write('b', 'one\n2\nthree\n')
    const diff = await preview(file, { type: 'link', target: 'b' })
    expect(diff).toMatch(/^removes the file a\nmakes the link a -> b\n/)
    expect(diff).toContain('\n-two\n+2\n')
    expect(diff).not.toContain('-one')
  })

  it('reads nothing outside of the workdir, and shows the whole file then', async () => {
    const { beside, preview, link } = await openFolder()
    await mkdir(beside, { recursive: true })
    await writeFile(join(beside, 'secret'), 'hush\n')
    await link(join(beside, 'secret'))
    const diff = await preview({ type: 'link', target: join(beside, 'secret') }, file)
    expect(diff).toContain('+one\n+two\n+three\n')
    expect(diff).not.toContain('hush')
  })
})
