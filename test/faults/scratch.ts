import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import type { SubjectKind, SubjectLocation } from './subject/subject.ts'

/** Uses a file system in memory if there is one: rows that create a thousand stores test the reader, not the disk. */
const memory = '/dev/shm'

/** Creates a directory for the tests of a file and removes it after them. */
export function useScratch({ inMemory }: { readonly inMemory: boolean }) {
  const parent = inMemory && existsSync(memory) ? memory : tmpdir()
  const home = mkdtempSync(join(parent, 'holdfast-faults-'))
  let last = 0
  afterAll(() => rmSync(home, { recursive: true, force: true }))
  const directory = (): string => {
    last += 1
    return join(home, String(last))
  }
  return { home, directory, location: (kind: SubjectKind): SubjectLocation => ({ kind, directory: directory() }) }
}
