import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const { packages }: { packages: Record<string, { readonly hasInstallScript?: boolean; readonly optional?: boolean }> } =
  JSON.parse(readFileSync('package-lock.json', 'utf8'))

// From version 12 on, npm runs no install script that the root package does not allow.
it('lets npm run the one install script that the repo needs: the one that brings Node 24', () => {
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name] === true)
  expect(allowed).toEqual(['node'])
})

it('decides about every other package with an install script, so that npm has nothing to ask', () => {
  const scripted = Object.entries(packages).filter(
    ([, { hasInstallScript, optional }]) => hasInstallScript && !optional,
  )
  const names = scripted.map(([path]) => path.replace(/^.*node_modules\//, ''))
  expect(Object.keys(allowScripts).toSorted()).toEqual([...new Set(names)].toSorted())
})
