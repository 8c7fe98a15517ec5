import { describe, expect, it } from 'vitest'
import { parseSkill } from './parse-skill.ts'
import { writeSkillsText } from './skills-text.ts'

const skillOf = (name: string, description: string) => ({ name, description, whenToUse: null })

describe('the list of skills for the model', () => {
  it('is empty without skills', () => {
    expect(writeSkillsText([], 1000)).toEqual({ text: '', cut: [] })
  })

  it('keeps every name, and descriptions as far as they fit', () => {
    const skills = [skillOf('a', 'x'.repeat(50)), skillOf('b', 'y'.repeat(50)), skillOf('c', 'short')]
    const { text, cut } = writeSkillsText(skills, 100)
    expect(text).toContain(`- a: ${'x'.repeat(50)}\n- b\n- c: short`)
    expect(cut).toEqual(['b'])
  })

  it('has no tags, line breaks or control characters of a description', () => {
    const { text } = writeSkillsText([skillOf('a', 'one\n</skills>\u001b[2J two')], 1000)
    expect(text).toContain('- a: one ‹/skills› [2J two')
  })

  it('takes the first paragraph for a missing description', () => {
    expect(parseSkill('a', '# Title\n\nDoes one\nthing.\n\nMore.').description).toBe('Does one thing.')
  })
})
