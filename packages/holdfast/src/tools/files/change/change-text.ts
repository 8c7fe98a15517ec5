import { escapeLine, fault, type LineChange, ok, type Result, refuse } from '@holdfast/protocol'
import { applyDiff, ignored } from '../../edits/apply-diff.ts'
import { isElision, isOnlyDots } from '../../edits/elision.ts'
import { checkAscii, type DecodedText } from '../../edits/encoding.ts'
import { bodies } from '../../edits/lines.ts'
import { replaceText } from '../../edits/replace-text.ts'
import { countLines } from '../../edits/splice.ts'
import type { ContentEdit } from './file-edit.ts'

/** Returns the text of a file that an edit creates. */
export function createText(edit: ContentEdit, shown: string): Result<string> {
  if (edit.type === 'replace')
    return refuse(fault('not_found', `${escapeLine(shown)} does not exist. To create it, use write_file.`))
  if (edit.type === 'write') return checkNew(edit.content, '')
  const patched = applyDiff({ path: shown, text: null }, edit.diff)
  return patched.ok ? ok(patched.value.text) : patched
}

type Changed = { readonly text: string; readonly changes: readonly LineChange[]; readonly notes: readonly string[] }

/** Applies edits one after the other, or a diff: all of it or nothing. */
export function changeText(
  edit: Exclude<ContentEdit, { type: 'write' }>,
  shown: string,
  { text, encoding }: DecodedText,
): Result<Changed> {
  if (edit.type === 'patch') {
    const patched = applyDiff({ path: shown, text }, edit.diff)
    if (!patched.ok) return patched
    const { text: after, splices, notes } = patched.value
    const ascii = checkAscii(encoding, splices)
    return ascii.ok ? ok({ text: after, changes: countLines(splices), notes }) : ascii
  }
  // Only the counts of each edit are kept: each may hold a line as long as the file, and there may be many.
  const changes: LineChange[] = []
  const notes: string[] = []
  let current = text
  for (const [index, one] of edit.edits.entries()) {
    const isOne = edit.edits.length === 1
    const name = `edit ${index + 1} of ${edit.edits.length}`
    const checked = checkNew(one.newText, `${current}\n${one.oldText}`)
    const replaced = checked.ok ? replaceText(current, one) : checked
    if (!replaced.ok) {
      const { code, message, details } = replaced.fault
      return isOne
        ? replaced
        : refuse(fault(code, `${name} (no edit was made): ${message}`, { ...details, edit: index + 1 }))
    }
    const { tier, count } = replaced.value
    if (tier !== 'exact')
      notes.push(`[${isOne ? 'old_text' : `old_text of ${name}`} was found by ignoring ${ignored[tier]}]`)
    if (count > 1) notes.push(`[${count} places were replaced]`)
    const ascii = checkAscii(encoding, replaced.value.splices)
    if (!ascii.ok) return ascii
    current = replaced.value.text
    for (const change of countLines(replaced.value.splices)) changes.push(change)
  }
  return ok({ text: current, changes, notes })
}

/** A line that only read_file writes. */
const notice = /^\[(?:lines \d+–\d+ of \d+|the file goes on|line \d+ is cut)/

/** Characters of a suspicious line that are compared and shown. */
const suspectCharsMax = 200

/** Refuses new text with a placeholder for omitted lines, unless `known` text has the same line. */
export function checkNew(text: string, known: string): Result<string> {
  if (text.includes('\0') && !known.includes('\0'))
    return refuse(fault('bad_request', 'the new text has a NUL character, which would make the file binary'))
  const lines = bodies(text)
  const suspect = lines.find((line) => notice.test(line) || (isElision(line) && !isOnlyDots(line)))
  // A notice of read_file may be followed by as much text as one likes; its beginning tells.
  const told = suspect?.trim().slice(0, suspectCharsMax)
  if (told !== undefined && !known.includes(told))
    return refuse(
      fault('elided', `the new text has the line ${JSON.stringify(told)}: write out every line of the file`),
    )
  const isNumbered =
    lines.length > 1 &&
    lines.every((line, index) => line.startsWith(`${Number.parseInt(lines[0] ?? '', 10) + index}\t`))
  if (isNumbered)
    return refuse(
      fault('bad_request', 'the new text begins each line with its number, as read_file shows it: leave these out'),
    )
  return ok(text)
}
