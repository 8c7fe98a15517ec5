import type { Skills } from '@holdfast/core/ports'
import { noSuchSkill, ok, refuse } from '@holdfast/protocol'

/** Skills of which every one exists, except `missing`. None is listed. */
export const fakeSkills: Skills = {
  list: async () => ({ skills: [], told: '' }),
  read: async ({ name }) =>
    name === 'missing' ? refuse(noSuchSkill(name)) : ok({ name, hash: `hash of ${name}`, text: `Text of ${name}.` }),
  readFile: async ({ name, path }) => (name === 'missing' ? refuse(noSuchSkill(name)) : ok(`Content of ${path}.`)),
}
