import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readLibrary } from './reference/library.ts'
import { renderReference } from './reference/page.ts'

const folder = resolve(import.meta.dirname, '../docs/reference')

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const [file, text] of renderReference(readLibrary())) writeFileSync(join(folder, file), text)
