import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { notAborted, openWorkdir } from '../../../../../testkit/src/contracts/tool.ts'
import { hashBytes } from '../io/before-image.ts'
import { createChangeThread } from './change-thread.ts'
import { diffEdit, editedContent } from './file-change.ts'

const filler = 'a line of a long file\n'.repeat(14_000) // 300 KB

/** Edits a file by the lines around the passage, and as a whole, which `all` demands. */
async function editBoth(content: string | Uint8Array, oldText: string, newText: string) {
  const { workdir } = await openWorkdir()
  await writeFile(join(workdir, 'f'), content)
  const seen = [{ path: 'f', hash: hashBytes(Buffer.from(content)), ranges: [[1, 9] as const], of: 9 }]
  const make = async (all: boolean) => {
    const edit = { type: 'replace', workdir, path: 'f', seen, edits: [{ oldText, newText, all }] } as const
    const [edited, shown] = [await editedContent(edit), await diffEdit(edit)]
    if (!edited.ok) throw new Error(edited.fault.message)
    const { parts, before, ...about } = edited.value // bytes are compared as bytes: much faster
    return { isCut: parts.length > 1, bytes: Buffer.concat(parts), about: { ...about, before: before?.hash }, shown }
  }
  return { around: await make(false), whole: await make(true) }
}

const pieces = fc
  .array(fc.constantFrom('x', 'é', '🐢', ' ', '\n', '\r\n', 'same\n', '\n\n'), { maxLength: 12 })
  .map((parts) => parts.join(''))

describe('an edit of a long file', () => {
  it('gives by the lines around the passage what it gives by the whole text', async () => {
    let cut = 0
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(pieces, pieces, pieces, pieces),
        fc.constantFrom(['', filler], [filler, ''], [filler, filler]),
        async ([lead, old, next, trail], [before = '', after = '']) => {
          const { around, whole } = await editBoth(`${before}${lead}<${old}>${trail}${after}`, `<${old}>`, next)
          expect(around.about).toEqual(whole.about)
          expect(around.shown).toEqual(whole.shown)
          expect(around.bytes.equals(whole.bytes)).toBe(true)
          if (around.isCut) cut++
        },
      ),
      { numRuns: 60 },
    )
    expect(cut).toBeGreaterThan(30)
  })

  it.each([
    ['has a byte-order mark', `\ufeff${filler}<>`, '<>', '()'],
    ['is UTF-16', Buffer.from(`\ufeff${filler}<>`, 'utf16le'), '<>', '()'],
    ['has very long lines', `${'x'.repeat(300_000)}<>${'x'.repeat(300_000)}`, '<>', '()'],
    ['has equal lines around the change', `${filler}<>\n${'same\n'.repeat(30)}${filler}`, '<>\nsame\n', '<>\n'],
  ])('reads all of one that %s', async (_, content, oldText, newText) => {
    const { around, whole } = await editBoth(content, oldText, newText)
    expect(around.isCut).toBe(false)
    expect(around.shown).toEqual(whole.shown)
    expect(around.bytes.equals(whole.bytes)).toBe(true)
  })

  it('is refused in the same words', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), `<>\n${filler}<>\n`)
    const edit = (oldText: string, newText: string) =>
      editedContent({ type: 'replace', workdir, path: 'f', edits: [{ oldText, newText }] })
    expect(await edit('<>', 'x')).toMatchObject({ fault: { message: expect.stringContaining('at lines 1, 14002') } })
    expect(await edit('<<', 'x')).toMatchObject({ fault: { code: 'no_match' } })
    expect(await edit('file\n<>', '// ... rest of the code')).toMatchObject({ fault: { code: 'elided' } })
    // Of a long line only the beginning is searched: a long text is searched in quadratic time.
    for (const length of [10_000, 20_000]) {
      const told = await edit('file\n<>', `[line 1 is cut${'a'.repeat(length)}`)
      expect(told).toMatchObject({ fault: { code: 'elided' } })
      expect(JSON.stringify(told).length).toBeLessThan(400)
    }
  })

  it('hands the old bytes and the parts of the new content over from a thread', async () => {
    const { workdir } = await openWorkdir()
    await writeFile(join(workdir, 'f'), `${filler}<>\n${filler}`)
    const edit = { type: 'replace', workdir, path: 'f', edits: [{ oldText: '<>', newText: '()' }] } as const
    const answer = await createChangeThread().run({ type: 'content', edit, keys: [] }, notAborted)
    if (!answer.ok) throw new Error(answer.fault.message)
    const { before, parts, after } = answer.value
    expect(Buffer.from(before?.bytes ?? []).toString()).toBe(`${filler}<>\n${filler}`)
    expect(Buffer.concat(parts).toString()).toBe(`${filler}()\n${filler}`)
    expect(hashBytes(...parts)).toBe(after)
  })
})
