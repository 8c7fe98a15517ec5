import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SummaryFiles } from '@holdfast/core/ports'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import { openDirectory } from '../system/files/open-file.ts'
import { resolvePath } from '../system/files/resolve-path.ts'
import { systemErrorCode, systemErrorWords } from '../system/system-error.ts'

const folder = '.holdfast/context'
const triesMax = 100

/** Saves summaries of a session in a folder of its workdir. Does not follow links out of the workdir. */
export const createSummaryFiles = ({ now }: { readonly now: () => number }): SummaryFiles => ({
  async save(workdir, title, text) {
    try {
      return await saveIn(workdir, `${dateOf(now())}-${slugOf(title)}`, text)
    } catch (error) {
      if (systemErrorCode(error) === null) throw error
      return refuse(fault('storage_error', `The summary cannot be written to ${folder}: ${systemErrorWords(error)}`))
    }
  },
})

async function saveIn(workdir: string, stem: string, text: string): Promise<Result<string>> {
  const path = await resolvePath(workdir, folder)
  if (!path.ok) return path
  await mkdir(path.value.absolute, { recursive: true })
  const opened = await openDirectory(path.value.root, path.value.absolute)
  if (!opened.ok) return opened
  await using directory = opened.value
  for (let number = 1; number <= triesMax; number++) {
    const name = number === 1 ? `${stem}.md` : `${stem}-${number}.md`
    if (!(await writeNew(directory.at(name), text))) continue
    await directory.sync()
    return ok(join(path.value.shown, name))
  }
  return refuse(fault('storage_error', `${dirname(path.value.absolute)} has too many summaries named ${stem}.`))
}

/** Writes a new file. Returns false if it exists; never overwrites. */
async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    await using file = await open(path, 'wx', 0o644)
    await file.writeFile(text.endsWith('\n') ? text : `${text}\n`)
    await file.sync()
    return true
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false
    throw error
  }
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** Returns a file name for a title, with letters and digits of any script. */
const slugOf = (title: string): string =>
  title
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '') || 'summary'
