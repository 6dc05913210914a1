package control

import "strings"

// phrases are texts of the engine in English, with blanks %s, and in Russian with the same
// blanks in the same order. The first that fits counts.
var phrases = [][2]string{
	// the marks of the parts
	{"connected", "подключено"}, {"off", "выключено"}, {"none", "нет"}, {"right", "верно"},
	{"klawbot chat attaches", "klawbot chat подключится"},
	{"no answer yet", "ответа пока нет"}, {"I keep trying", "пробую снова"}, {"no network", "нет сети"},
	{"check the connection", "проверьте соединение"}, {"correct the file", "исправьте файл"},
	{"klawbot status shows the progress", "ход показывает klawbot status"},
	{"no chats allowed", "разрешённых чатов нет"}, {"klawbot allow ID (klawbot init finds your ID)", "klawbot allow ID (klawbot init найдёт ваш ID)"},
	{"%s, and %s more", "%s и ещё %s"}, {"%s and %s more", "%s и ещё %s"},
	{"none: commands, notes and reminders work", "нет: работают команды, заметки и напоминания"},
	{"none: defaults and environment", "нет: значения по умолчанию и переменные окружения"},
	{"%s cannot be written (%s)", "%s: нельзя писать (%s)"}, {"%s cannot be written", "%s: нельзя писать"},
	{"the program %s is not in PATH", "программы %s нет в PATH"}, {"install it, or correct command", "установите её или исправьте command"},
	{"off (no code_execute)", "выключено (нет code_execute)"}, {"commands run as the bot does", "команды работают с правами бота"},
	{"commands without approval are checked but not confined (no Landlock)", "команды без разрешения проверяются, но не ограничены (нет Landlock)"},
	{"commands without approval are confined by Landlock, approved ones run as the bot does", "команды без разрешения ограничены Landlock, разрешённые работают с правами бота"},
	{"shell and code_execute in it", "shell и code_execute внутри"}, {"code_execute in it, shell outside", "code_execute внутри, shell снаружи"},
	{"order: %s", "порядок: %s"}, {"%s (not here)", "%s (здесь нет)"}, {"set %s", "укажите %s"},
	{"keyword search only", "только поиск по словам"}, {"keyword search only (%s): klawbot assets pull", "только поиск по словам (%s): klawbot assets pull"},
	{"keyword search only (%s)", "только поиск по словам (%s)"}, {"keyword search until then", "пока только поиск по словам"},
	{"hybrid search, with %s, which is for English", "поиск по словам и по смыслу, с %s, только для английского"}, {"for %s", "для %s"},
	{"hybrid search, with %s", "поиск по словам и по смыслу, с %s"}, {"no embedding model: %s", "нет модели для поиска по смыслу: %s"},
	{"the ONNX Runtime library %s", "библиотека ONNX Runtime %s"}, {"%s: file does not exist", "%s: файла нет"},
	{"klawbot assets pull --voice en, with espeak-ng and opus-tools installed", "klawbot assets pull --voice en; нужны espeak-ng и opus-tools"},
	{"none: the local model knows English only", "нет: модель на этом компьютере знает только английский"}, {"name a server in %s", "укажите сервер в %s"},
	{"no: there is no model", "нет: модели нет"}, {"no: %s has no vision", "нет: %s не видит картинок"}, {"%s, if %s has vision", "%s, если %s видит картинки"},
	{"no PDF: install %s", "PDF нет: установите %s"}, {"no OCR: install %s", "OCR нет: установите %s"}, {"no OCR language %s", "нет языка OCR: %s"},
	{"office", "офисные файлы"}, {"%s, here", "%s, на этом компьютере"}, {"a voice for %s", "голос для %s"},
	{"klawbot model, or media.vision in config.yaml", "klawbot model или media.vision в config.yaml"}, {"correct %s in config.yaml", "исправьте %s в config.yaml"},
	{"inbox: a message has waited for %s", "входящие: сообщение ждёт уже %s"}, {"database: %s", "база: %s"},
	// models
	{"it does not list the model %s", "на сервере нет модели %s"}, {"it has %s", "есть %s"},
	{"the key is refused", "ключ не принят"}, {"check %s", "проверьте %s"},
	{"%s does not answer", "%s не отвечает"}, {"is the server running, and is baseURL right?", "запущен ли сервер и верен ли baseURL?"},
	{"the model on this machine does not run", "модель на этом компьютере не запущена"},
	{"the model was silent for too long", "модель слишком долго молчала"}, {"try again, or choose a smaller model", "попробуйте снова или выберите модель поменьше"},
	{"the account has no money or quota left", "на счёте кончились деньги или квота"},
	// the configuration
	{"there is no config.yaml yet", "config.yaml пока нет"}, {"there is no config.yaml to change", "config.yaml нет"}, {"klawbot init writes one", "его создаст klawbot init"},
	{"the list comes from %s in the environment, which wins over config.yaml", "список задан переменной окружения %s, она важнее config.yaml"}, {"change it there", "измените его там"},
	{"%s comes from %s in the environment, which wins over config.yaml", "%s задаёт переменная окружения %s, она важнее config.yaml"},
	{"%s: a value with ${…} can only be written by the owner, in config.yaml", "%s: значение с ${…} пишется только в самом config.yaml"},
	{"%s: the value is longer than %s bytes", "%s: значение длиннее %s байт"},
	{"config.yaml has faults already", "в config.yaml уже есть ошибки"}, {"the owner has to fix them first", "сначала исправьте их"},
	{"config.yaml is written in a way that cannot be edited safely here", "config.yaml написан так, что отсюда его не изменить"}, {"the owner changes it by hand", "измените его вручную"},
	{"%s can only be changed by the owner, in config.yaml", "%s меняется только в самом config.yaml"}, {"this tool changes %s", "здесь меняются %s"},
	{"%s must be %s to %s, got %s", "%s: ожидается от %s до %s, а не %s"},
	{"%s must be %s, got %s", "%s: ожидается %s, а не %s"}, {"%s must be %s", "%s: ожидается %s"}, {"score or rrf", "score или rrf"}, {"en or ru", "en или ru"},
	{"true or false", "true или false"}, {"a whole number", "целое число"}, {"a number", "число"}, {"a text", "текст"},
	{"a time of a minute at least, such as 30m, 2h or PT1H, or \"\" for off", "время не меньше минуты, например 30m, 2h или PT1H; пусто — выключено"},
	{"a chat with its channel, such as telegram_123456, or \"\"", "чат с каналом, например telegram_123456, или пусто"},
	{"two times of the day such as 22:00-07:00, or \"\" for none", "два времени суток, например 22:00-07:00, или пусто"},
	{"two different times of the day such as 22:00-07:00", "два разных времени суток, например 22:00-07:00"},
	{"a time zone such as Europe/Berlin or UTC", "часовой пояс, например Europe/Berlin или UTC"},
	{"one of %s (%s)", "одно из %s (%s)"},
	// the policy
	{"Tool is in deny list", "Инструмент в списке запрещённых"}, {"Tool not in allow list", "Инструмента нет в списке разрешённых"},
	{"Tool group %s is denied", "Группа инструментов %s запрещена"}, {"Tool is in ask list", "Инструмент в списке тех, о которых спрашивают"},
	{"Tool requires approval", "Инструменту нужно разрешение"}, {"Nothing forbids it", "Ничто этого не запрещает"}, {"no one can approve it here", "здесь некому разрешить"},
	{"Read-only mode: %s may not change anything", "Режим только чтения: %s ничего не меняет"}, {"the arguments cannot be read", "аргументы не читаются"},
	{"Command blocked: %s", "Команда запрещена: %s"}, {"no approval allows it", "её нельзя разрешить"}, {"it deletes everything", "она удаляет всё"},
	{"%s steers the bot in every chat", "%s управляет ботом во всех чатах"}, {"an owner has to agree", "нужно согласие владельца"},
	// runs of schedules
	{"sent", "отправлено"}, {"new", "ждёт отправки"}, {"sending", "отправляется"}, {"unknown", "доставка не подтверждена"}, {"dead", "не доставлено"},
	{"skipped by hand", "пропущено вручную"}, {"by hand", "вручную"}, {"late", "с опозданием"}, {"the previous run had not ended", "предыдущий запуск ещё не кончился"},
	{"schedule %s is running already", "задание %s уже выполняется"}, {"schedule %s has no next run to skip", "у задания %s нет следующего раза"},
	{"%s is due only once", "%s выполняется один раз"}, {"pause or delete it", "поставьте на паузу или удалите"},
	{"%s in config.yaml", "%s в config.yaml"},
}

// russian is a text of the engine in Russian, part by part. What it does not know stays
// English.
func russian(text string) string {
	if parts := strings.Split(text, "; "); len(parts) > 1 {
		return inRussian(parts, "; ")
	}
	for _, p := range phrases {
		if parts, fits := blanks(p[0], text); fits {
			return filledIn(p[1], parts)
		}
	}
	if parts := strings.Split(text, ", "); len(parts) > 1 {
		return inRussian(parts, ", ")
	}
	return text
}

func inRussian(parts []string, mark string) string {
	for i := range parts {
		parts[i] = russian(parts[i])
	}
	return strings.Join(parts, mark)
}

// blanks are what stands in a text where a pattern has blanks.
func blanks(pattern, text string) (parts []string, fits bool) {
	fixed := strings.Split(pattern, "%s")
	rest, fits := strings.CutPrefix(text, fixed[0])
	for i := 1; i < len(fixed) && fits; i++ {
		at := strings.Index(rest, fixed[i])
		if i == len(fixed)-1 {
			at = len(rest) - len(fixed[i])
		}
		if fits = at > 0 && strings.HasSuffix(rest[:at+len(fixed[i])], fixed[i]); fits {
			parts, rest = append(parts, rest[:at]), rest[at+len(fixed[i]):]
		}
	}
	return parts, fits && rest == ""
}

// filledIn is a pattern with its blanks filled, each in Russian.
func filledIn(pattern string, parts []string) string {
	var b strings.Builder
	for i, fixed := range strings.Split(pattern, "%s") {
		if i > 0 {
			b.WriteString(russian(parts[i-1]))
		}
		b.WriteString(fixed)
	}
	return b.String()
}
