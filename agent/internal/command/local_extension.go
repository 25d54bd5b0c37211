package command

import (
	"slices"
	"strings"
)

func (p *page) skills() {
	if len(p.args) > 1 {
		p.usage()
		return
	}
	if len(p.args) == 1 {
		p.skill(lowerName(p.args[0]))
		return
	}
	if len(p.set.skills) == 0 {
		p.line("none; put one in %s", p.places(skillsDir, "NAME", skillFile))
	}
	for _, k := range p.set.skills {
		note := ""
		if p.set.prompts[k.Name].skill != k.Dir {
			note = ", hidden by the command /" + k.Name
		}
		p.line("%s (%s%s): %s", k.Name, k.Origin, note, k.Description)
	}
}

func (p *page) skill(name string) {
	i := slices.IndexFunc(p.set.skills, func(k Skill) bool { return k.Name == name })
	if i < 0 {
		p.line("no skill is called %s; /skills lists them", name)
		p.usage()
		return
	}
	k := p.set.skills[i]
	p.line("name: %s", k.Name)
	p.line("origin: %s", k.Origin)
	p.line("folder: %s", k.Dir)
	p.line("description: %s", k.Description)
	p.text(k.Text())
}

func (p *page) text(body string, err error) {
	if err != nil {
		p.failed(err)
		return
	}
	p.b.WriteString("\n" + body)
}

func (p *page) agents() {
	if len(p.args) > 1 {
		p.usage()
		return
	}
	if len(p.args) == 1 {
		p.agent(lowerName(p.args[0]))
		return
	}
	if len(p.set.agents) == 0 {
		p.line("none; put one in %s", p.places(agentsDir, "NAME.md"))
	}
	for _, a := range p.set.agents {
		p.line("%s (%s, %s): %s", a.Name, a.Origin, agentModel(a), a.Description)
	}
}

func (p *page) agent(name string) {
	i := slices.IndexFunc(p.set.agents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		p.line("no agent is called %s; /agents lists them", name)
		p.usage()
		return
	}
	a := p.set.agents[i]
	p.line("name: %s", a.Name)
	p.line("origin: %s", a.Origin)
	p.line("file: %s", a.Path())
	p.line("model: %s", agentModel(a))
	p.line("description: %s", a.Description)
	p.text(a.Text())
}

func agentModel(a Agent) string { return or(a.Model, "the session's model") }

func (p *page) mcp() {
	if !p.none() {
		return
	}
	if p.env.MCP == nil {
		p.missing("this session starts no MCP servers; the host passes them as mcpServers when it opens one")
		return
	}
	list := p.env.MCP()
	if len(list) == 0 {
		p.line("none; the host passes servers as mcpServers when it opens a session")
	}
	for _, m := range list {
		p.line("%s: %s, %s, tools: %s", m.Name, m.Transport, m.State, or(strings.Join(m.Tools, ", "), "none"))
		if m.LastError != "" {
			p.sub("last error: %s", m.LastError)
		}
	}
}

func (p *page) team() {
	if !p.none() {
		return
	}
	if p.env.Team == nil {
		p.missing("this session cannot delegate; /agents lists the agent definitions")
		return
	}
	list := p.env.Team()
	if len(list) == 0 {
		p.line("nobody; put an agent in %s", p.places(agentsDir, "NAME.md"))
	}
	for _, m := range list {
		p.line("%s (%s): %s", m.Name, or(oneLine(m.Doing, maxText), "idle"), or(m.Description, "(no description)"))
	}
}
