import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import type { Place, SubjectKind } from './subject/subject.ts'

/** In memory where there is such a place: rows that make a store a thousand times test what it reads, not the disk. */
const memory = '/dev/shm'

/** A directory for the tests of a file, removed after them. */
export function useScratch({ inMemory }: { readonly inMemory: boolean }) {
  const parent = inMemory && existsSync(memory) ? memory : tmpdir()
  const home = mkdtempSync(join(parent, 'holdfast-faults-'))
  let last = 0
  afterAll(() => rmSync(home, { recursive: true, force: true }))
  const directory = (): string => {
    last += 1
    return join(home, String(last))
  }
  return { home, directory, place: (kind: SubjectKind): Place => ({ kind, directory: directory() }) }
}
