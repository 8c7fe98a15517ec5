import * as testkit from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import * as entry from './testkit.ts'

describe('holdfast/testkit', () => {
  it('exports everything that @holdfast/testkit exports', () => {
    expect(Object.keys(entry).sort()).toEqual(Object.keys(testkit).sort())
    expect({ ...entry }).toEqual({ ...testkit })
  })
})
