import { link, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BlobHash, limits } from '@holdfast/protocol'
import { describe, expect, it, vi } from 'vitest'
import { createToolRun, notAborted, openWorkdir } from '../../../../../testkit/src/contracts/tool.ts'
import { deleteFileTool } from '../delete-file.ts'
import { editFileTool } from '../edit-file.ts'
import { moveFileTool } from '../move-file.ts'
import { writeFileTool } from '../write-file.ts'
import { refuseAlias, withBoundaries } from './bounded-files.ts'

const content = BlobHash.parse('a'.repeat(64))
const text = 'one\ntwo\nthree\n'

async function openBounded() {
  const { workdir } = await openWorkdir()
  await writeFile(join(workdir, 'f'), text)
  await writeFile(join(workdir, 'g'), text)
  const openBlob = async () => [Buffer.from(text)] as unknown as AsyncIterable<Uint8Array>
  return { workdir, boundaries: [{ path: 'f', start: 1, end: 1, content }], openBlob }
}

describe('a file with an edit boundary', () => {
  it('is not deleted, moved, or replaced by another', async () => {
    const context = await openBounded()
    const denied = { type: 'unusable', denied: 'outside_boundary' }
    expect(await deleteFileTool.prepare({ path: 'f' }, context, notAborted)).toMatchObject(denied)
    expect(await moveFileTool.prepare({ path: './f', new_path: 'h' }, context, notAborted)).toMatchObject(denied)
    expect(await moveFileTool.prepare({ path: 'g', new_path: 'f' }, context, notAborted)).toMatchObject(denied)
    expect(await deleteFileTool.prepare({ path: 'g' }, context, notAborted)).toMatchObject({ type: 'ready' })
  })

  it('is not written by another name of the same file', async () => {
    const context = await openBounded()
    await link(join(context.workdir, 'f'), join(context.workdir, 'alias'))
    const denied = { type: 'unusable', denied: 'outside_boundary', message: expect.stringContaining('another name') }
    const written = { path: 'alias', content: 'gone\n' }
    expect(await withBoundaries(writeFileTool).prepare(written, context, notAborted)).toMatchObject(denied)
    const edited = { path: 'alias', old_text: 'one', new_text: '1' }
    expect(await withBoundaries(editFileTool).prepare(edited, context, notAborted)).toMatchObject(denied)
    const run = await withBoundaries(writeFileTool).run(written, context, createToolRun().run)
    expect(run.type).toBe('failed')
    expect(await readFile(join(context.workdir, 'f'), 'utf8')).toBe(text)
    const inside = { path: 'f', old_text: 'two', new_text: '2' }
    expect(await withBoundaries(editFileTool).prepare(inside, context, notAborted)).toMatchObject({ type: 'ready' })
  })

  it('is not deleted or moved by another name of the same file', async () => {
    const context = await openBounded()
    await link(join(context.workdir, 'f'), join(context.workdir, 'alias'))
    const denied = { type: 'unusable', denied: 'outside_boundary', message: expect.stringContaining('another name') }
    expect(await deleteFileTool.prepare({ path: 'alias' }, context, notAborted)).toMatchObject(denied)
    const moved = { path: 'alias', new_path: 'other' }
    expect(await moveFileTool.prepare(moved, context, notAborted)).toMatchObject(denied)
  })

  it.each([
    ['case', 'f', 'F'],
    ['composition', 'caf\u00e9', 'cafe\u0301'],
  ])('is not changed by another spelling, where the file system folds %s', async (_, path, spelling) => {
    const { workdir } = await openBounded()
    await writeFile(join(workdir, path), text)
    const boundaries = [{ path, start: 1, end: 1, content }]
    // What `resolvePath` gives there: the name as it was spelled, which leads to the same file. It has no second hard link.
    const other = { root: workdir, absolute: join(workdir, path), shown: spelling, missing: [], links: [] }
    expect(await refuseAlias(workdir, boundaries, other)).toMatchObject({ fault: { code: 'outside_boundary' } })
    expect(await refuseAlias(workdir, boundaries, { ...other, shown: path })).toMatchObject({ ok: true })
  })

  it('leaves bad paths of other calls to the tools, which refuse them', async () => {
    const context = await openBounded()
    const prepared = await withBoundaries(deleteFileTool).prepare({ path: 'a\0b' }, context, notAborted)
    expect(prepared).toMatchObject({ type: 'unusable', message: expect.stringContaining('NUL') })
    const openBlob = vi.fn(context.openBlob)
    const path = `${'./'.repeat(limits.toolPathCharsMax)}f`
    const long = await withBoundaries(deleteFileTool).prepare({ path }, { ...context, openBlob }, notAborted)
    expect(long).toMatchObject({ type: 'unusable', message: expect.stringContaining(`${limits.toolPathCharsMax}`) })
    expect(openBlob).not.toHaveBeenCalled()
  })

  it('is written whole only if the lines outside stay', async () => {
    const context = await openBounded()
    const write = (body: string) =>
      withBoundaries(writeFileTool).prepare({ path: 'f', content: body }, context, notAborted)
    expect(await write('one\n2\n2b\nthree\n')).toMatchObject({ type: 'ready' })
    expect(await write('one\n2\nthree\nfour\n')).toMatchObject({ denied: 'outside_boundary' })
  })

  it('is not changed once it is no longer a text', async () => {
    const context = await openBounded()
    await writeFile(join(context.workdir, 'f'), Buffer.from([0, 1, 2, 0]))
    const written = await withBoundaries(writeFileTool).prepare({ path: 'f', content: text }, context, notAborted)
    expect(written).toMatchObject({ denied: 'outside_boundary' })
  })
})
